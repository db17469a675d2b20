import {
  type BankData,
  type EncryptionVersion,
  encryptField,
  encryptionVersionOf,
  type UserDataData,
  type UserDataRequest,
} from '@perennial/wire';
import type { Action } from '../../../catalog/action.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import { isNumberKey, type ListDefinition, readListPage } from '../../../platform/lists/list-page.js';
import { type PlaintextKind, readPlaintext } from '../../domain/agreements/plaintext.js';
import { cardDetails } from './card.js';
import { type AgreementKey, type AgreementRow, listBoundAgreements } from './sql.js';

const LIST: ListDefinition<AgreementRow, AgreementKey> = {
  endpoint: 'agreements/user-data',
  isKey: isNumberKey(1),
  keyOf: ({ agreementId }) => [agreementId],
};

/** agreements/user-data: agreements that match every filter given, under the key that the channel has now. */
export function userData(): Action<UserDataRequest, UserDataData> {
  return async ({ channel, database, answer }, request) => {
    const { channelId } = channel;
    const filter = {
      channelUserId: request.channelUserId,
      cardHash: hashOf(channel, 'card', request.bankCardNoEncrypted, 'bankCardNoEncrypted'),
      certificateHash: hashOf(channel, 'certificate', request.certificateNoEncrypted, 'certificateNoEncrypted'),
    };
    const { cardHash, certificateHash } = filter;
    // As hashes: a ciphertext is another one each time.
    const asked = { ...filter, cardHash: cardHash?.toString('hex'), certificateHash: certificateHash?.toString('hex') };
    const { rows, paging } = await readListPage(LIST, { database, channelId }, asked, request, (db, limit, place) =>
      listBoundAgreements(db, channelId, filter, limit, place),
    );
    const version = answerVersion(channel, request);
    return answer({ bankDataList: rows.map((row) => bankData(channel, row, version)), ...paging });
  };
}

function hashOf(
  channel: Channel,
  kind: PlaintextKind & ('card' | 'certificate'),
  ciphertext: string | undefined,
  field: string,
): Buffer | undefined {
  if (ciphertext === undefined) return undefined;
  return channel.sealing.hash(readPlaintext(channel, kind, ciphertext, field), kind);
}

/** Who can write a form can read it. */
function answerVersion(
  { answerEncryption }: Channel,
  { bankCardNoEncrypted, certificateNoEncrypted }: UserDataRequest,
): EncryptionVersion {
  const sent = [bankCardNoEncrypted, certificateNoEncrypted].map((value) => value && encryptionVersionOf(value));
  return sent.includes('v2') ? 'v2' : sent.includes('v1') ? 'v1' : answerEncryption;
}

function bankData(channel: Channel, row: AgreementRow, version: EncryptionVersion): BankData {
  if (row.agreementNo === null) throw new Error(`agreement ${row.agreementId} was never bound`);
  const card = cardDetails(channel, row);
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
