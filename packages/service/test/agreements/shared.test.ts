import { beforeEach, describe, expect, it } from 'vitest';
import type { Channel } from '../../src/catalog/channels/channel.js';
import { unsealCard, unsealInstitutionNo } from '../../src/subscriptions/store/agreements/card.js';
import { agreementsOfFile, createShared, encrypt, type Person, person } from './support.js';

const { service, channel: client } = agreementsOfFile();
let channel: Channel;
beforeEach(async () => {
  channel = await service.inMemory(client);
});

/** Returns the stored agreement of a user. */
async function storedOf({ channelUserId }: Person) {
  const [row] = await service.fresh.database.query<{
    agreementId: number;
    details: string;
    institutionNo: string;
    cardHash: Buffer;
    certificateHash: Buffer;
  }>(
    `select agreement_id as "agreementId", source, status, payment_channel_code as "paymentChannelCode",
       agreement_no as "agreementNo", card_tail as "cardTail", bank_code as "bankCode", details,
       institution_no as "institutionNo", card_hash as "cardHash", certificate_hash as "certificateHash"
     from agreements where channel_user_id = $1`,
    [channelUserId],
  );
  if (!row) throw new Error(`${channelUserId} has no agreement`);
  return row;
}

async function shared(more: object = {}) {
  const who = person();
  const reply = await createShared(client, who, more);
  expect(reply.code, reply.text).toBe('0');
  return { who, row: await storedOf(who) };
}

describe('a shared agreement', () => {
  it('is bound from the start, and decrypts to the sent values', async () => {
    const { who, row } = await shared({ certType: 'PASSPORT', sharedAgreementNo: 'SHARED-7' });
    expect(row).toMatchObject({
      source: 'SHARED_FROM_CHANNEL',
      status: 'BIND_SUCCESS',
      paymentChannelCode: 'PAY',
      agreementNo: `AG${row.agreementId}`,
      cardTail: who.bankCardNo.slice(-4),
      bankCode: null,
    });
    const { bankCardNo, certificateNo, realName, bankMobile } = who;
    const card = { bankCardNo, certificateNo, realName, bankMobile, certType: 'PASSPORT' };
    expect(unsealCard(channel, row)).toEqual(card);
    expect(unsealInstitutionNo(channel, row)).toBe('SHARED-7');
    expect(row.cardHash).toEqual(channel.sealing.hash(bankCardNo, 'card'));
    expect(row.certificateHash).toEqual(channel.sealing.hash(certificateNo, 'certificate'));
  });

  it('certType defaults to ID_CARD', async () => {
    expect(unsealCard(channel, (await shared()).row).certType).toBe('ID_CARD');
  });

  it("cannot be decrypted as another agreement's, as another channel's, or before it is bound", async () => {
    const { row } = await shared();
    const moved = { ...row, agreementId: row.agreementId + 1 };
    expect(() => unsealCard(channel, moved)).toThrow('does not open');
    expect(() => unsealInstitutionNo(channel, moved)).toThrow('does not open');
    const stranger = await service.inMemory(await service.channel());
    expect(() => unsealCard(stranger, row)).toThrow('does not open');
    expect(() => unsealInstitutionNo(channel, { ...row, institutionNo: null })).toThrow('was never bound');
  });

  it.each([
    ['bankCardNoEncrypted', '1234567'],
    ['bankMobileEncrypted', '1'],
    ['certificateNoEncrypted', ''],
    ['realNameEncrypted', ''],
  ])('400001: %s is %j, and the message has its full path', async (field, text) => {
    const wrong = { [field]: encrypt(client, text), paymentChannelCode: 'NOBODYS' };
    const reply = await createShared(client, person(), wrong);
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain(`sharedAgreement.${field}`);
  });
});
