import { Rejection, type SharedAgreement } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { CardDetails } from '../../../gateways/gateway.js';
import { normalizeNumber } from '../../../platform/normalize-number.js';
import type { FieldReader } from '../../domain/agreements/plaintext.js';
import type { AgreementRow } from '../../store/agreements/agreements-sql.js';
import { formatAgreementNo, readCard, sealCard, sealInstitutionNo } from '../../store/agreements/card.js';

/**
 * Decrypts the card, and returns the agreement with its number normalized. Throws DECRYPT_FAILED or PARAM_INVALID.
 * `field` is the name of the sub-object in the request.
 */
export function readSharedAgreement(
  reader: FieldReader,
  shared: SharedAgreement,
  field: 'sharedAgreement' | 'newSharedAgreement',
): { readonly card: CardDetails; readonly shared: SharedAgreement } {
  const sharedAgreementNo = normalizeNumber(shared.sharedAgreementNo);
  if (sharedAgreementNo === '' || /\p{C}/u.test(sharedAgreementNo))
    throw new Rejection('PARAM_INVALID', `${field}.sharedAgreementNo contains a character that is not allowed`);
  return { card: readCard(reader, shared, `${field}.`), shared: { ...shared, sharedAgreementNo } };
}

/** Thrown if a different channel uses the agreement number. The message does not name that channel. */
export class NumberOfAnotherChannel extends Rejection {
  constructor() {
    super('SHARED_AGREEMENT_NOT_ALLOWED', 'sharedAgreementNo is in use elsewhere and cannot be shared');
  }
}

/** Creates a row that is bound from the start: the service trusts the channel and does not call the institution. */
export function createSharedAgreementRow(
  channel: Channel,
  shared: SharedAgreement,
  card: CardDetails,
  { agreementId, now }: { readonly agreementId: number; readonly now: number },
): AgreementRow {
  return {
    agreementId,
    channelId: channel.channelId,
    channelUserId: shared.channelUserId,
    paymentChannelCode: shared.paymentChannelCode,
    source: 'SHARED_FROM_CHANNEL',
    status: 'BIND_SUCCESS',
    agreementNo: formatAgreementNo(agreementId),
    institutionNo: sealInstitutionNo(channel, agreementId, shared.sharedAgreementNo),
    ...sealCard(channel, agreementId, card, undefined),
    createdAt: now,
  };
}
