import { DEFAULT_CERT_TYPE } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { CardDetails } from '../../../gateways/gateway.js';
import { type FieldReader, readPlaintext } from '../../domain/agreements/plaintext.js';
import type { AgreementRow, CardColumns } from './agreements-sql.js';

/** The card fields that bind-sms and a shared agreement have in common. */
export interface EncryptedCard {
  readonly bankCardNoEncrypted: string;
  readonly certificateNoEncrypted: string;
  readonly realNameEncrypted: string;
  readonly bankMobileEncrypted: string;
  readonly certType?: string;
}

/** Decrypts the fields of a card. `within` is put before a field's name in errors, for example `sharedAgreement.`. */
export function readCard(reader: FieldReader, fields: EncryptedCard, within = ''): CardDetails {
  return {
    bankCardNo: readPlaintext(reader, 'card', fields.bankCardNoEncrypted, `${within}bankCardNoEncrypted`),
    certificateNo: readPlaintext(
      reader,
      'certificate',
      fields.certificateNoEncrypted,
      `${within}certificateNoEncrypted`,
    ),
    realName: readPlaintext(reader, 'name', fields.realNameEncrypted, `${within}realNameEncrypted`),
    bankMobile: readPlaintext(reader, 'mobile', fields.bankMobileEncrypted, `${within}bankMobileEncrypted`),
    certType: fields.certType ?? DEFAULT_CERT_TYPE,
  };
}

/** Encrypts a card for storage. Each encryption gives a different text, so `details` also identifies one write. */
export function sealCard(
  { sealing }: Channel,
  agreementId: number,
  card: CardDetails,
  bankCode: string | undefined,
): CardColumns {
  return {
    cardHash: sealing.hash(card.bankCardNo, 'card'),
    certificateHash: sealing.hash(card.certificateNo, 'certificate'),
    cardTail: card.bankCardNo.slice(-4),
    details: sealing.seal(JSON.stringify(card), detailsPlace(agreementId)),
    bankCode: bankCode ?? null,
  };
}

const MASK = '****';

/** Seals a masked card in place of the real one, so that readers need no special case. */
export function sealMaskedCard({ sealing }: Channel, agreementId: number, cardTail = MASK): string {
  const card: CardDetails = {
    bankCardNo: `${MASK}${cardTail}`,
    certificateNo: MASK,
    realName: MASK,
    bankMobile: MASK,
    certType: DEFAULT_CERT_TYPE,
  };
  return sealing.seal(JSON.stringify(card), detailsPlace(agreementId));
}

export function unsealCard(
  { sealing }: Channel,
  { agreementId, details }: Pick<AgreementRow, 'agreementId' | 'details'>,
): CardDetails {
  return JSON.parse(sealing.unseal(details, detailsPlace(agreementId)));
}

export function sealInstitutionNo({ sealing }: Channel, agreementId: number, institutionNo: string): string {
  return sealing.seal(institutionNo, institutionNoPlace(agreementId));
}

/** Returns a bound agreement's number at the institution, decrypted. */
export function unsealInstitutionNo(
  { sealing }: Channel,
  { agreementId, institutionNo: sealed }: Pick<AgreementRow, 'agreementId' | 'institutionNo'>,
): string {
  if (sealed === null) throw new Error(`agreement ${agreementId} was never bound`);
  return sealing.unseal(sealed, institutionNoPlace(agreementId));
}

export function formatAgreementNo(agreementId: number): string {
  return `AG${agreementId}`;
}

export const detailsPlace = (agreementId: number) => `details of agreement ${agreementId}`;
export const institutionNoPlace = (agreementId: number) => `institution number of agreement ${agreementId}`;
