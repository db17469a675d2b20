import { describe, expect, it } from 'vitest';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { unsealCard } from '../../src/subscriptions/store/agreements/card.js';
import { expectEnvelope } from '../support/envelope.js';
import {
  agreementsOfFile,
  bindSmsBody,
  boundBinding,
  confirmCode,
  encrypt,
  gate,
  person,
  sendCode,
  sentBinding,
  stored,
} from './support.js';

const { service, channel } = agreementsOfFile();

const rowsOf = async (table: string, user: string) =>
  (await service.fresh.database.query(`select from ${table} where channel_user_id = $1`, [user])).length;
const agreementsOf = (channelUserId: string) => rowsOf('agreements', channelUserId);
const usersOf = (channelUserId: string) => rowsOf('channel_users', channelUserId);

describe('agreements/bind-sms, sent', () => {
  it('0: SEND_SUCCESS, and the institution gets the card in plain text', async () => {
    const who = person();
    const reply = await sendCode(channel, who, { bankCode: 'ICBC', certType: 'PASSPORT', productCode: 'MONTHLY' });
    expect(reply.status).toBe(200);
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({
      bindOrderNo: expect.stringMatching(/^[1-9][0-9]+$/),
      paymentChannelCode: 'PAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_SUCCESS',
    });
    expect(service.gateway.sends).toEqual([
      {
        appId: channel.credentials.appId,
        origin: { requestId: reply.envelope.requestId },
        bindOrderNo: reply.data.bindOrderNo,
        bankCode: 'ICBC',
        card: {
          bankCardNo: who.bankCardNo,
          certificateNo: who.certificateNo,
          certType: 'PASSPORT',
          realName: who.realName,
          bankMobile: who.bankMobile,
        },
      },
    ]);
  });

  it('0: certType defaults to ID_CARD, the bank to none; an empty productCode is none', async () => {
    const reply = await sendCode(channel, person(), { productCode: '' });
    expect(reply.code).toBe('0');
    expect(service.gateway.sends).toMatchObject([{ bankCode: undefined, card: { certType: 'ID_CARD' } }]);
  });

  it('0: SEND_FAIL with the reason; the binding is open, the mobile is not bound', async () => {
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'number is not served' });
    const who = person();
    const reply = await sendCode(channel, who);
    expect(reply.data).toEqual({
      bindOrderNo: expect.any(String),
      paymentChannelCode: 'PAY',
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_FAIL',
      failReason: 'number is not served',
    });
    expect(await stored(service, reply.data.bindOrderNo)).toMatchObject({ status: 'BIND_ING', code_sent: false });
    expect(await usersOf(who.channelUserId)).toBe(0);
    // No user was stored, so the user can try again with another mobile.
    service.gateway.reset();
    expect((await sendCode(channel, { ...who, mobile: person().mobile })).data.smsStatus).toBe('SEND_SUCCESS');
    expect(await usersOf(who.channelUserId)).toBe(1);
  });

  it('0: SEND_FAIL if the outcome at the institution is unknown', async () => {
    service.gateway.onSend = async () => ({ kind: 'unknown' });
    const who = person();
    const reply = await sendCode(channel, who);
    expect(reply.data).toMatchObject({ smsStatus: 'SEND_FAIL', failReason: expect.stringContaining('try again') });
    expect(await usersOf(who.channelUserId)).toBe(0);
  });

  it('0: a mobile that is bound to this user is valid for the next card', async () => {
    const who = person();
    const first = await sentBinding(channel, who);
    const second = await sentBinding(channel, { ...person(), channelUserId: who.channelUserId, mobile: who.mobile });
    expect(second).not.toBe(first);
    expect(await usersOf(who.channelUserId)).toBe(1);
  });

  it('0: twenty concurrent requests with one key send one code', async () => {
    const body = bindSmsBody(channel, person());
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => channel.call('agreements/bind-sms', body, { idempotencyKey: 'twins' })),
    );
    expect(new Set(replies.map((reply) => JSON.stringify([reply.code, reply.data]))).size).toBe(1);
    expect(service.gateway.sends).toHaveLength(1);
  });
});

describe('agreements/bind-sms, the effective payment channel', () => {
  it.each([
    ['the named one', {}, { paymentChannelCode: 'SOME' }, 'SOME'],
    ['the default', {}, {}, 'PAY'],
    ['the only one', { paymentChannels: ['SOME'] }, {}, 'SOME'],
    ['the named one, although there is a default', {}, { paymentChannelCode: 'BANK', bankCode: 'CCB' }, 'BANK'],
  ] as const)('0: %s', async (_what, options, more, effective) => {
    const reply = await sendCode(await service.channel(options), person(), more);
    expect(reply.data).toMatchObject({ smsStatus: 'SEND_SUCCESS', paymentChannelCode: effective });
  });

  it.each([
    ['there are two and no default', { paymentChannels: ['BANK', 'SOME'] }],
    ['there is none at all', { paymentChannels: [] }],
  ] as const)('410006: none is named, and %s', async (_what, options) => {
    expect((await sendCode(await service.channel(options), person())).code).toBe('410006');
    expect(service.gateway.sends).toEqual([]);
  });

  it.each([['NOBODYS'], ['UNHEARD_OF']])('403003: %s is not authorized', async (paymentChannelCode) => {
    expect((await sendCode(channel, person(), { paymentChannelCode })).code).toBe('403003');
    expect(service.gateway.sends).toEqual([]);
  });

  it.each([
    ['0', 'any bank of a payment channel for all', { bankCode: 'XYZ' }],
    ['410005', 'missing where it is needed', { paymentChannelCode: 'BANK' }],
    ['410005', 'not on the list', { paymentChannelCode: 'BANK', bankCode: 'XYZ' }],
    ['410005', '* is no bank', { paymentChannelCode: 'BANK', bankCode: '*' }],
    ['0', 'on the list', { paymentChannelCode: 'BANK', bankCode: 'ICBC' }],
    ['0', 'missing where it is not needed', { paymentChannelCode: 'SOME' }],
    ['410005', 'not needed, given, and not on the list', { paymentChannelCode: 'SOME', bankCode: 'XYZ' }],
  ])('%s: bankCode %s', async (code, _what, more) => {
    expect((await sendCode(channel, person(), more)).code).toBe(code);
    expect(service.gateway.sends).toHaveLength(code === '0' ? 1 : 0);
  });
});

const FIELDS = [
  'mobileEncrypted',
  'bankCardNoEncrypted',
  'certificateNoEncrypted',
  'realNameEncrypted',
  'bankMobileEncrypted',
];

describe('agreements/bind-sms, encrypted fields', () => {
  it.each(FIELDS)("400002: %s under another channel's key", async (field) => {
    const stranger = await service.channel();
    const who = person();
    // Decryption with a wrong key sometimes yields valid padding. The text is then almost certainly not valid UTF-8,
    // which gets the same answer.
    const reply = await sendCode(channel, who, { [field]: encrypt(stranger, 'a text of three whole blocks of AES!') });
    expect(reply.code).toBe('400002');
    expect(service.gateway.sends).toEqual([]);
    expect(await agreementsOf(who.channelUserId)).toBe(0);
  });

  it.each([
    ['in plain text', () => '13800138000'],
    ['empty', () => ''],
    ['truncated', () => encrypt(channel, '13800138000').slice(0, -4)],
  ])('400002: a field that is %s', async (_what, value) => {
    expect((await sendCode(channel, person(), { bankMobileEncrypted: value() })).code).toBe('400002');
  });

  it.each([
    ['mobileEncrypted', '1234'],
    ['mobileEncrypted', '1'.repeat(21)],
    ['mobileEncrypted', '138 0013 8000'],
    ['mobileEncrypted', '13800138000+'],
    ['bankMobileEncrypted', ''],
    ['bankMobileEncrypted', '++13800138000'],
    ['bankMobileEncrypted', '１３８００１３８０００'],
    ['bankCardNoEncrypted', '1234567'],
    ['bankCardNoEncrypted', '1'.repeat(33)],
    ['bankCardNoEncrypted', '6222 0212 3456 7890'],
    ['bankCardNoEncrypted', '62220212345678\n'],
    ['realNameEncrypted', ''],
    ['realNameEncrypted', '王'.repeat(101)],
    ['certificateNoEncrypted', ''],
    ['certificateNoEncrypted', 'X'.repeat(65)],
  ])('400001: %s is %j; the message has the field and not its value', async (field, text) => {
    const reply = await sendCode(channel, person(), { [field]: encrypt(channel, text) });
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain(field);
    if (text !== '') expect(reply.text).not.toContain(text);
    expect(service.gateway.sends).toEqual([]);
  });

  it.each([
    ['mobileEncrypted', '12345'],
    ['mobileEncrypted', `+${'1'.repeat(20)}`],
    ['bankCardNoEncrypted', '12345678'],
    ['bankCardNoEncrypted', '1'.repeat(32)],
    ['realNameEncrypted', '𠮷'.repeat(100)],
    ['certificateNoEncrypted', 'X'.repeat(64)],
  ])('0: %s may be %j', async (field, text) => {
    expect((await sendCode(channel, person(), { [field]: encrypt(channel, text) })).code).toBe('0');
  });
});

describe('agreements/bind-sms again, with bindOrderNo', () => {
  it('0: the same binding, open, with the new card, which is sent to the institution', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    const newer = { ...person(), channelUserId: who.channelUserId, mobile: who.mobile };
    const reply = await sendCode(channel, newer, { bindOrderNo, paymentChannelCode: 'PAY' });
    expect(reply.data).toMatchObject({ bindOrderNo, paymentChannelCode: 'PAY', smsStatus: 'SEND_SUCCESS' });
    expect(service.gateway.sends.map(({ card }) => card.bankCardNo)).toEqual([who.bankCardNo, newer.bankCardNo]);
    const row = await stored(service, bindOrderNo);
    expect(row).toMatchObject({ status: 'BIND_ING', code_sent: true, card_tail: newer.bankCardNo.slice(-4) });
    const details = { agreementId: Number(bindOrderNo), details: row.details };
    expect(unsealCard(await service.inMemory(channel), details)).toMatchObject({ bankCardNo: newer.bankCardNo });
    expect(await agreementsOf(who.channelUserId)).toBe(1);
  });

  it("0: paymentChannelCode defaults to that of the binding, not to the channel's", async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who, { paymentChannelCode: 'SOME' });
    expect((await sendCode(channel, who, { bindOrderNo })).data.paymentChannelCode).toBe('SOME');
  });

  it('0: after BIND_FAIL it is open again', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    service.gateway.onConfirm = async () => ({ kind: 'refused', reason: 'no' });
    await confirmCode(channel, bindOrderNo);
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_FAIL');
    expect((await sendCode(channel, who, { bindOrderNo })).data).toMatchObject({ agreementStatus: 'BIND_ING' });
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_ING');
    service.gateway.reset();
    expect((await confirmCode(channel, bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  });

  it('0: a second send that fails invalidates the first code', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
    expect((await sendCode(channel, who, { bindOrderNo })).data.smsStatus).toBe('SEND_FAIL');
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('410004');
    expect(service.gateway.confirms).toEqual([]);
  });

  it('0: the later of two concurrent sends counts, whichever is answered first', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    const early = gate();
    service.gateway.onSend = async () => {
      await early.stand();
      return { kind: 'sent', reference: 'early' };
    };
    const first = sendCode(channel, who, { bindOrderNo });
    await early.reached;
    service.gateway.onSend = async () => ({ kind: 'sent', reference: 'late' });
    expect((await sendCode(channel, who, { bindOrderNo })).data.smsStatus).toBe('SEND_SUCCESS');
    early.open();
    expect((await first).data).toMatchObject({ smsStatus: 'SEND_FAIL', failReason: expect.any(String) });
    await confirmCode(channel, bindOrderNo);
    expect(service.gateway.confirms).toMatchObject([{ reference: 'late' }]);
  });

  it("410001: unknown, another channel's, misspelt, or beyond 64 bits: the same answer", async () => {
    const stranger = await service.channel();
    const who = person();
    const foreign = await sentBinding(stranger, who);
    const asked = ['100', foreign, `0${foreign}`, ` ${foreign}`, '-1', 'x', '9'.repeat(15), '9'.repeat(40)];
    const replies = await Promise.all(asked.map((bindOrderNo) => sendCode(channel, who, { bindOrderNo })));
    expect(new Set(replies.map(({ envelope }) => `${envelope.code} ${envelope.message}`)).size).toBe(1);
    expect(replies[0]?.code).toBe('410001');
    expect(service.gateway.sends).toHaveLength(1);
  });

  it("400001: another channelUserId than the binding's", async () => {
    const bindOrderNo = await sentBinding(channel);
    const reply = await sendCode(channel, person(), { bindOrderNo });
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain('channelUserId');
  });

  it('403003: its payment channel is no longer authorized', async () => {
    const { appId } = channel.credentials;
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    await withdrawPaymentChannel(service.operator, { appId, code: 'PAY' });
    expect((await sendCode(channel, who, { bindOrderNo })).code).toBe('403003');
    await authorizePaymentChannel(service.operator, { appId, code: 'PAY' });
    expect((await sendCode(channel, who, { bindOrderNo })).code).toBe('0');
  });

  it.each(['BIND_SUCCESS', 'CANCELED', 'REPLACED'])('410003: it is %s', async (status) => {
    const who = person();
    const bindOrderNo = await boundBinding(channel, who);
    await service.fresh.database.query('update agreements set status = $2 where agreement_id = $1', [
      bindOrderNo,
      status,
    ]);
    expect((await sendCode(channel, who, { bindOrderNo })).code).toBe('410003');
    expect(service.gateway.sends).toHaveLength(1);
  });
});

/**
 * From row to row, the errors whose codes won in the rows above are corrected. The service must answer with the first
 * of the errors that are left.
 */
describe('agreements/bind-sms, several errors', () => {
  it('the first code in the list of codes wins', async () => {
    const who = person();
    const closed = await boundBinding(channel, who);
    const open = await sentBinding(channel, who, { paymentChannelCode: 'SOME' });
    const wrong = { productCode: 'UNAUTHORIZED', bankCode: 'XYZ' };
    const stranger = { ...who, mobile: person().mobile };
    const table = [
      ['400002', person(), { ...wrong, bindOrderNo: closed, paymentChannelCode: 'SOME', mobileEncrypted: 'x' }],
      ['400001', person(), { ...wrong, bindOrderNo: closed, paymentChannelCode: 'SOME' }],
      ['420005', stranger, { ...wrong, productCode: 'NO_SUCH', bindOrderNo: 'none', paymentChannelCode: 'NOBODYS' }],
      ['420006', stranger, { ...wrong, bindOrderNo: 'none', paymentChannelCode: 'NOBODYS' }],
      ['410001', stranger, { bankCode: 'XYZ', bindOrderNo: 'none', paymentChannelCode: 'NOBODYS' }],
      ['410003', stranger, { bankCode: 'XYZ', bindOrderNo: closed, paymentChannelCode: 'SOME' }],
      ['410007', stranger, { bankCode: 'XYZ', bindOrderNo: open, paymentChannelCode: 'NOBODYS' }],
      ['403003', stranger, { bankCode: 'XYZ', paymentChannelCode: 'NOBODYS' }],
      ['410005', stranger, { bankCode: 'XYZ', bindOrderNo: open }],
      ['410010', stranger, { bindOrderNo: open }],
      ['0', who, { bindOrderNo: open }],
    ] as const;
    const codes: string[] = [];
    for (const [, sender, more] of table) codes.push((await sendCode(channel, sender, more)).code);
    expect(codes).toEqual(table.map(([code]) => code));
  });
});

describe('agreements/bind-sms in the sandbox', () => {
  it('0: any number of codes', async () => {
    const who = person();
    for (let n = 0; n < 12; n += 1) await sentBinding(channel, who);
    const rows = await service.fresh.database.query('select from sms_sends');
    expect(rows).toEqual([]);
  });
});
