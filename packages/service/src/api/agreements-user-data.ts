import {
  type BankData,
  type EncryptionVersion,
  encryptField,
  encryptionVersionOf,
  type UserDataData,
  type UserDataRequest,
} from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { Channel } from '../catalog/channels/channel.js';
import { isNumberKey, type ListDefinition, readListPage } from '../platform/lists/list-page.js';
import { type FieldReader, type PlaintextKind, readPlaintext } from '../subscriptions/domain/agreements/plaintext.js';
import {
  type AgreementKey,
  type AgreementRow,
  listBoundAgreements,
} from '../subscriptions/store/agreements/agreements-sql.js';
import { unsealCard } from '../subscriptions/store/agreements/card.js';

const AGREEMENT_LIST: ListDefinition<AgreementRow, AgreementKey> = {
  endpoint: 'agreements/user-data',
  isKey: isNumberKey(1),
  keyOf: ({ agreementId }) => [agreementId],
};

/**
 * agreements/user-data. Returns the agreements that match all filters. Their personal data is encrypted with the
 * channel's current key.
 */
export function createUserDataAction(): Action<UserDataRequest, UserDataData> {
  return async (context, request) => {
    const { channel, askedEncryption, database, answer } = context;
    const { channelId } = channel;
    const filter = {
      channelUserId: request.channelUserId,
      cardHash: hashFilter(context, 'card', request.bankCardNoEncrypted, 'bankCardNoEncrypted'),
      certificateHash: hashFilter(context, 'certificate', request.certificateNoEncrypted, 'certificateNoEncrypted'),
    };
    const { cardHash, certificateHash } = filter;
    // The cursor is tied to hashes of the filters, because encrypting the same value again gives a different
    // ciphertext.
    const asked = { ...filter, cardHash: cardHash?.toString('hex'), certificateHash: certificateHash?.toString('hex') };
    const { rows, paging } = await readListPage(
      AGREEMENT_LIST,
      { database, channelId },
      asked,
      request,
      (db, limit, place) => listBoundAgreements(db, channelId, filter, limit, place),
    );
    const version = chooseAnswerVersion(channel, askedEncryption, request);
    return answer({ bankDataList: rows.map((row) => toBankData(channel, row, version)), ...paging });
  };
}

function hashFilter(
  reader: FieldReader,
  kind: PlaintextKind & ('card' | 'certificate'),
  ciphertext: string | undefined,
  field: string,
): Buffer | undefined {
  if (ciphertext === undefined) return undefined;
  return reader.channel.sealing.hash(readPlaintext(reader, kind, ciphertext, field), kind);
}

/**
 * Answers in the encryption version of the request, because a channel that can write a version can read it. Without
 * encrypted fields in the request, uses the version that the header asks for, otherwise the channel's default.
 */
function chooseAnswerVersion(
  { answerEncryption }: Channel,
  asked: EncryptionVersion | undefined,
  { bankCardNoEncrypted, certificateNoEncrypted }: UserDataRequest,
): EncryptionVersion {
  const sent = [bankCardNoEncrypted, certificateNoEncrypted].map((value) => value && encryptionVersionOf(value));
  return sent.includes('v2') ? 'v2' : sent.includes('v1') ? 'v1' : (asked ?? answerEncryption);
}

function toBankData(channel: Channel, row: AgreementRow, version: EncryptionVersion): BankData {
  if (row.agreementNo === null) throw new Error(`agreement ${row.agreementId} was never bound`);
  const card = unsealCard(channel, row);
  const encrypted = (text: string) => encryptField(text, channel.aesKey, version);
  return {
    bindOrderNo: row.source === 'SELF_BINDING' ? String(row.agreementId) : null,
    agreementNo: row.agreementNo,
    bankCardNoEncrypted: encrypted(card.bankCardNo),
    certificateNoEncrypted: encrypted(card.certificateNo),
    realNameEncrypted: encrypted(card.realName),
    bankMobileEncrypted: encrypted(card.bankMobile),
    agreementStatus: row.status,
  };
}
