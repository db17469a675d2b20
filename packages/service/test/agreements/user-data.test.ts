import { decryptField, type EncryptionVersion, encryptField } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { setEncryption } from '../../src/operator/provisioning/channel-settings.js';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { expectEnvelope, IN_THE_CLEAR } from '../support/envelope.js';
import {
  agreementsOfFile,
  boundBinding,
  confirmCode,
  createShared,
  encrypt,
  type Person,
  person,
  sentBinding,
} from './support.js';

const { service, channel } = agreementsOfFile();

const ask = (body: object, by = channel) => by.call('agreements/user-data', body);

interface Item {
  readonly bindOrderNo: string | null;
  readonly agreementNo: string;
  readonly agreementStatus: string;
  readonly bankCardNoEncrypted: string;
  readonly certificateNoEncrypted: string;
  readonly realNameEncrypted: string;
  readonly bankMobileEncrypted: string;
}

const opened = (item: Item, by = channel) => {
  const open = (value: string) => decryptField(value, Buffer.from(by.credentials.aesKey, 'base64'));
  return {
    bankCardNo: open(item.bankCardNoEncrypted),
    certificateNo: open(item.certificateNoEncrypted),
    realName: open(item.realNameEncrypted),
    bankMobile: open(item.bankMobileEncrypted),
  };
};
const cardOf = ({ bankCardNo, certificateNo, realName, bankMobile }: Person) => ({
  bankCardNo,
  certificateNo,
  realName,
  bankMobile,
});
const numbers = async (body: object) => (await ask(body)).data.bankDataList.map((item: Item) => item.bindOrderNo);

describe('agreements/user-data', () => {
  it("0: the card is returned under the channel's key, with a new IV each time", async () => {
    const who = person();
    const bindOrderNo = await boundBinding(channel, who);
    const reply = await ask({ channelUserId: who.channelUserId });
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({
      bankDataList: [
        {
          bindOrderNo,
          agreementNo: `AG${bindOrderNo}`,
          agreementStatus: 'BIND_SUCCESS',
          bankCardNoEncrypted: expect.stringMatching(/^svc_aes_v1:/),
          certificateNoEncrypted: expect.stringMatching(/^svc_aes_v1:/),
          realNameEncrypted: expect.stringMatching(/^svc_aes_v1:/),
          bankMobileEncrypted: expect.stringMatching(/^svc_aes_v1:/),
        },
      ],
      page: 1,
      size: 100,
      hasMore: false,
      nextCursor: null,
    });
    const [item] = reply.data.bankDataList;
    expect(opened(item)).toEqual(cardOf(who));
    const [again] = (await ask({ channelUserId: who.channelUserId })).data.bankDataList;
    expect(again.bankCardNoEncrypted).not.toBe(item.bankCardNoEncrypted);
    expect(opened(again)).toEqual(cardOf(who));
  });

  it('0: found by card, by document, and by several filters only if all match', async () => {
    const who = person();
    const first = await boundBinding(channel, who);
    const second = await boundBinding(channel, { ...who, bankCardNo: person().bankCardNo });
    await boundBinding(channel);
    const card = { bankCardNoEncrypted: encrypt(channel, who.bankCardNo) };
    const certificate = { certificateNoEncrypted: encrypt(channel, who.certificateNo) };
    const user = { channelUserId: who.channelUserId };
    expect(await numbers(card)).toEqual([first]);
    expect(await numbers(certificate)).toEqual([second, first]);
    expect(await numbers(user)).toEqual([second, first]);
    expect(await numbers({ ...user, ...certificate, ...card })).toEqual([first]);
    expect(await numbers({ channelUserId: 'nobody', ...card })).toEqual([]);
    expect(await numbers({ ...card, certificateNoEncrypted: encrypt(channel, 'another') })).toEqual([]);
  });

  it("0: another channel's agreements are not found, by user or by card", async () => {
    const who = person();
    await boundBinding(await service.channel(), who);
    expect(await numbers({ channelUserId: who.channelUserId })).toEqual([]);
    expect(await numbers({ bankCardNoEncrypted: encrypt(channel, who.bankCardNo) })).toEqual([]);
  });

  it('0: agreements that were ever bound, without pending and failed ones', async () => {
    const { channelUserId, mobile } = person();
    const next = () => person({ channelUserId, mobile });
    await sentBinding(channel, next());
    const failed = await sentBinding(channel, next());
    service.gateway.onConfirm = async () => ({ kind: 'refused', reason: 'no' });
    await confirmCode(channel, failed);
    service.gateway.reset();
    const expected: object[] = [];
    for (const status of ['BIND_SUCCESS', 'CANCELED', 'REPLACED']) {
      const bindOrderNo = await boundBinding(channel, next());
      await service.fresh.database.query('update agreements set status = $2 where agreement_id = $1', [
        bindOrderNo,
        status,
      ]);
      expected.unshift({ bindOrderNo, agreementStatus: status });
    }
    expect((await ask({ channelUserId })).data.bankDataList).toMatchObject(expected);
  });

  it('0: a shared agreement has no bindOrderNo', async () => {
    const who = person();
    expect((await createShared(channel, who)).code).toBe('0');
    const { bankDataList } = (await ask({ bankCardNoEncrypted: encrypt(channel, who.bankCardNo) })).data;
    expect(bankDataList).toMatchObject([
      { bindOrderNo: null, agreementNo: expect.stringMatching(/^AG\d+$/), agreementStatus: 'BIND_SUCCESS' },
    ]);
    expect(opened(bankDataList[0])).toEqual(cardOf(who));
  });

  it('0: after a reset of the aesKey, the new key decrypts data that was stored under the old one', async () => {
    const who = person();
    await boundBinding(channel, who);
    const { appId } = channel.credentials;
    const reset = await resetCredentials(service.operator, { appId, names: ['aesKey'] });
    const renewed = service.client({ ...channel.credentials, ...reset });
    const old = encrypt(channel, who.bankCardNo);
    expect((await ask({ bankCardNoEncrypted: old }, renewed)).code).toBe('400002');
    const reply = await ask({ bankCardNoEncrypted: encrypt(renewed, who.bankCardNo) }, renewed);
    expect(reply.data.bankDataList).toHaveLength(1);
    expect(opened(reply.data.bankDataList[0], renewed)).toEqual(cardOf(who));
  });

  it.each([
    ['bankCardNoEncrypted', '1234'],
    ['certificateNoEncrypted', ''],
  ])('400001: %s is %j', async (field, text) => {
    const reply = await ask({ channelUserId: 'u', [field]: encrypt(channel, text) });
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain(field);
  });
});

describe('the encryption of the answer', () => {
  const who = person();
  const FIELDS = ['bankCardNoEncrypted', 'certificateNoEncrypted', 'realNameEncrypted', 'bankMobileEncrypted'] as const;
  const sent = (text: string, version: EncryptionVersion) =>
    encryptField(text, Buffer.from(channel.credentials.aesKey, 'base64'), version);
  const user = { channelUserId: who.channelUserId };
  const card = (version: EncryptionVersion) => ({ bankCardNoEncrypted: sent(who.bankCardNo, version) });
  const certificate = (version: EncryptionVersion) => ({ certificateNoEncrypted: sent(who.certificateNo, version) });
  const set = (more: { answers?: string; acceptsV1?: boolean }) =>
    setEncryption(service.operator, { appId: channel.credentials.appId, ...more });
  const formsOf = (item: Item) => [...new Set(FIELDS.map((field) => item[field].split(':')[0]))];

  it.each<[string, EncryptionVersion, () => object, string]>([
    ['by the user alone, where nothing is set', 'v1', () => user, 'svc_aes_v1'],
    ['by the user alone, where v2 is set', 'v2', () => user, 'svc_aes_v2'],
    ['by a card in v2, where v1 is set', 'v1', () => card('v2'), 'svc_aes_v2'],
    ['by a card in v1, where v2 is set', 'v2', () => card('v1'), 'svc_aes_v1'],
    ['by both in v2', 'v1', () => ({ ...card('v2'), ...certificate('v2') }), 'svc_aes_v2'],
    ['by a card in v1 and a document in v2', 'v1', () => ({ ...card('v1'), ...certificate('v2') }), 'svc_aes_v2'],
    ['by the user and a document in v2', 'v1', () => ({ ...user, ...certificate('v2') }), 'svc_aes_v2'],
  ])('0: %s', async (_what, answers, body, form) => {
    await boundBinding(channel, who);
    await set({ answers });
    const [item] = (await ask(body())).data.bankDataList;
    expect(formsOf(item)).toEqual([form]);
    expect(opened(item)).toEqual(cardOf(who));
  });

  it('0: by the user alone, in the version that the header asks for; 400001 for an unknown version', async () => {
    await boundBinding(channel, who);
    const asked = (body: object, version: string) =>
      channel.call('agreements/user-data', body, { headers: { 'X-SVC-Encrypted-Fields': version } });
    const [item] = (await asked(user, 'v2')).data.bankDataList;
    expect(formsOf(item)).toEqual(['svc_aes_v2']);
    expect(opened(item)).toEqual(cardOf(who));
    await set({ answers: 'v2' });
    expect(formsOf((await asked(user, 'v1')).data.bankDataList[0])).toEqual(['svc_aes_v1']);
    expect(formsOf((await asked(card('v1'), 'v2')).data.bankDataList[0])).toEqual(['svc_aes_v1']);
    const { code, envelope } = await asked(user, 'v3');
    expect([code, envelope.message]).toEqual(['400001', 'header X-SVC-Encrypted-Fields must be v1 or v2']);
  });

  it('0: a whole binding and an order in v2, and the data is stored', async () => {
    const fields = { ...card('v2'), ...certificate('v2'), realNameEncrypted: sent(who.realName, 'v2') };
    const mobiles = { mobileEncrypted: sent(who.mobile, 'v2'), bankMobileEncrypted: sent(who.bankMobile, 'v2') };
    const bindOrderNo = await sentBinding(channel, who, { ...fields, ...mobiles });
    const confirmed = await channel.call('agreements/bind-confirm', {
      bindOrderNo,
      smsCodeEncrypted: sent('735190', 'v2'),
    });
    expect(confirmed.data.agreementStatus).toBe('BIND_SUCCESS');
    expect(service.gateway.sends[0]?.card).toMatchObject(cardOf(who));
    expect(service.gateway.confirms[0]?.smsCode).toBe('735190');
    // A search with a v1 ciphertext finds the card that was stored from a v2 ciphertext, because both have the same
    // plaintext.
    const { bankDataList } = (await ask(card('v1'))).data;
    expect(opened(bankDataList[0])).toEqual(cardOf(who));
  });

  it('400002 with the reason while v1 is disabled; v2 works, and v1 too when it is enabled again', async () => {
    await boundBinding(channel, who);
    await set({ acceptsV1: false });
    const refused = await ask(card('v1'));
    expectEnvelope(refused.envelope, '400002');
    expect(refused.envelope.message).toBe(
      'bankCardNoEncrypted uses svc_aes_v1, which is disabled for this channel: use svc_aes_v2',
    );
    expect((await ask({ bankCardNoEncrypted: 'plain' })).envelope.message).toBe(
      `bankCardNoEncrypted cannot be decrypted${IN_THE_CLEAR}`,
    );
    expect((await ask(card('v2'))).data.bankDataList).toHaveLength(1);
    await set({ acceptsV1: true });
    expect((await ask(card('v1'))).data.bankDataList).toHaveLength(1);
  });
});
