import { describe, expect, it } from 'vitest';
import type { BindOutcome } from '../../src/gateways/gateway.js';
import { unsealCard, unsealInstitutionNo } from '../../src/subscriptions/store/agreements/card.js';
import { expectEnvelope } from '../support/envelope.js';
import {
  agreementsOfFile,
  boundBinding,
  confirmBody,
  confirmCode,
  createShared,
  encrypt,
  gate,
  meetingOf,
  person,
  sendCode,
  sentBinding,
  stored,
} from './support.js';

const LIFETIME = 5 * 60_000;

const { service, channel } = agreementsOfFile();
const { service: production } = agreementsOfFile({ environment: 'production' });

describe('agreements/bind-confirm, answered by the institution', () => {
  it('0: BIND_SUCCESS with the number of the agreement', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    const reply = await confirmCode(channel, bindOrderNo, '654321');
    expectEnvelope(reply.envelope, '0');
    expect(reply.data).toEqual({
      agreementNo: `AG${bindOrderNo}`,
      agreementStatus: 'BIND_SUCCESS',
      bankCardTailNo: who.bankCardNo.slice(-4),
    });
    expect(service.gateway.confirms).toEqual([
      {
        appId: channel.credentials.appId,
        origin: { requestId: expect.any(String) },
        bindOrderNo,
        reference: `ref-${bindOrderNo}-1`,
        smsCode: '654321',
      },
    ]);
    const row = await stored(service, bindOrderNo);
    expect(row).toMatchObject({ status: 'BIND_SUCCESS', agreement_no: `AG${bindOrderNo}` });
    const sealed = { agreementId: Number(bindOrderNo), institutionNo: row.institution_no };
    expect(unsealInstitutionNo(await service.inMemory(channel), sealed)).toBe(`inst-${bindOrderNo}`);
  });

  it('0: BIND_FAIL for a wrong code; the binding stays open, and the right code binds it', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    service.gateway.onConfirm = async () => ({ kind: 'wrong-code', reason: 'that is not the code' });
    const reply = await confirmCode(channel, bindOrderNo);
    expect(reply.data).toEqual({
      agreementNo: null,
      agreementStatus: 'BIND_FAIL',
      bankCardTailNo: who.bankCardNo.slice(-4),
      failReason: 'that is not the code',
      codeRetryable: true,
    });
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_ING', wrong_codes: 1, code_sent: true });
    service.gateway.reset();
    expect((await confirmCode(channel, bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  });

  it('0: BIND_FAIL for a refusal, which ends the binding', async () => {
    const bindOrderNo = await sentBinding(channel);
    service.gateway.onConfirm = async () => ({ kind: 'refused', reason: 'card is blocked' });
    const reply = await confirmCode(channel, bindOrderNo);
    expect(reply.data).toEqual({
      agreementNo: null,
      agreementStatus: 'BIND_FAIL',
      bankCardTailNo: expect.any(String),
      failReason: 'card is blocked',
    });
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_FAIL');
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('410003');
    expect(service.gateway.confirms).toHaveLength(1);
  });

  it('503001: unknown outcome; the binding stays open, no attempt is counted, and the resend binds', async () => {
    const bindOrderNo = await sentBinding(channel);
    const body = confirmBody(channel, bindOrderNo);
    service.gateway.onConfirm = async () => ({ kind: 'unknown' });
    const reply = await channel.call('agreements/bind-confirm', body, { idempotencyKey: `unsaid-${bindOrderNo}` });
    expect(reply.status).toBe(503);
    expect(reply.code).toBe('503001');
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_ING', wrong_codes: 0 });
    service.gateway.reset();
    // The code has expired. The resent request must not be refused for that reason, because the institution may have
    // bound the card at the first request.
    service.clock.advance(LIFETIME + 1);
    const again = await channel.call('agreements/bind-confirm', body, { idempotencyKey: `unsaid-${bindOrderNo}` });
    expect(again.data.agreementStatus).toBe('BIND_SUCCESS');
    expect(service.gateway.confirms).toHaveLength(1);
  });

  it('503001, then another request binds: the resend of the first gets the stored result', async () => {
    const bindOrderNo = await sentBinding(channel);
    const body = confirmBody(channel, bindOrderNo);
    service.gateway.onConfirm = async () => ({ kind: 'unknown' });
    await channel.call('agreements/bind-confirm', body, { idempotencyKey: `other-${bindOrderNo}` });
    service.gateway.reset();
    const other = await confirmCode(channel, bindOrderNo);
    const again = await channel.call('agreements/bind-confirm', body, { idempotencyKey: `other-${bindOrderNo}` });
    expect(again.data).toEqual(other.data);
    expect(service.gateway.confirms).toHaveLength(1);
  });

  it.each([
    ['bound', { kind: 'bound', institutionNo: 'x' }],
    ['refused', { kind: 'refused', reason: 'no' }],
    ['wrong-code', { kind: 'wrong-code', reason: 'no' }],
  ] as const)('0: a resend with the same key is answered the same: %s', async (_kind, outcome) => {
    const bindOrderNo = await sentBinding(channel);
    service.gateway.onConfirm = async () => outcome;
    const body = confirmBody(channel, bindOrderNo);
    const first = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'one' });
    const again = await channel.call('agreements/bind-confirm', body, { idempotencyKey: 'one' });
    expect(first.code).toBe('0');
    expect(again.data).toEqual(first.data);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(service.gateway.confirms).toHaveLength(1);
  });
});

describe('agreements/bind-confirm, refused by the service', () => {
  it("410001: unknown, another channel's, a shared agreement's, misspelt: the same answer", async () => {
    const stranger = await service.channel();
    const foreign = await sentBinding(stranger);
    const who = person();
    await createShared(channel, who);
    const { bankDataList } = (await channel.call('agreements/user-data', { channelUserId: who.channelUserId })).data;
    const shared = bankDataList[0].agreementNo.replace('AG', '');
    const asked = ['100', foreign, shared, `0${foreign}`, `AG${foreign}`, '9'.repeat(40)];
    const replies = await Promise.all(asked.map((bindOrderNo) => confirmCode(channel, bindOrderNo)));
    expect(new Set(replies.map(({ envelope }) => `${envelope.code} ${envelope.message}`)).size).toBe(1);
    expect(replies[0]?.code).toBe('410001');
    expect(service.gateway.confirms).toEqual([]);
  });

  it.each(['BIND_SUCCESS', 'BIND_FAIL', 'CANCELED', 'REPLACED'])('410003: it is %s', async (status) => {
    const bindOrderNo = await boundBinding(channel);
    await service.fresh.database.query('update agreements set status = $2 where agreement_id = $1', [
      bindOrderNo,
      status,
    ]);
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('410003');
    expect(service.gateway.confirms).toHaveLength(1);
  });

  it('410004: one millisecond after five minutes, and not before', async () => {
    const [good, late] = [await sentBinding(channel), await sentBinding(channel)];
    service.clock.advance(LIFETIME);
    expect((await confirmCode(channel, good)).data.agreementStatus).toBe('BIND_SUCCESS');
    service.clock.advance(1);
    expect((await confirmCode(channel, late)).code).toBe('410004');
    expect(service.gateway.confirms).toHaveLength(1);
  });

  it('410004: a new code has its own five minutes', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    service.clock.advance(LIFETIME + 1);
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('410004');
    await sendCode(channel, who, { bindOrderNo });
    service.clock.advance(LIFETIME);
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('0');
  });

  it('410004: no code was ever sent', async () => {
    service.gateway.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
    const { bindOrderNo } = (await sendCode(channel, person())).data;
    expect((await confirmCode(channel, bindOrderNo)).code).toBe('410004');
    expect(service.gateway.confirms).toEqual([]);
  });

  it("400002: the code under another channel's key, or in plain text; also for a closed binding", async () => {
    const stranger = await service.channel();
    const bindOrderNo = await boundBinding(channel);
    for (const smsCodeEncrypted of ['123456', '', encrypt(stranger, 'a text of three whole blocks of AES!')]) {
      const reply = await channel.call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
      expect(reply.code).toBe('400002');
    }
  });

  it.each([[''], ['1'.repeat(33)]])('400001: the code is %j', async (code) => {
    const reply = await confirmCode(channel, await sentBinding(channel), code);
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain('smsCodeEncrypted');
  });
});

describe('agreements/bind-confirm, wrong codes', () => {
  it('410004: the sixth in production is not sent to the institution, even if it is right; a new code resets the count', async () => {
    const client = await production.channel();
    const who = person();
    const bindOrderNo = await sentBinding(client, who);
    production.gateway.onConfirm = async () => ({ kind: 'wrong-code', reason: 'no' });
    for (let n = 1; n <= 5; n += 1) {
      expect((await confirmCode(client, bindOrderNo)).data.agreementStatus).toBe('BIND_FAIL');
    }
    production.gateway.onConfirm = async () => ({ kind: 'bound', institutionNo: 'x' });
    expect((await confirmCode(client, bindOrderNo)).code).toBe('410004');
    expect(production.gateway.confirms).toHaveLength(5);
    production.clock.advance(60_000);
    await sendCode(client, who, { bindOrderNo });
    expect((await confirmCode(client, bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  });

  it('410004: twenty at once in production: five are sent to the institution', async () => {
    const client = await production.channel();
    const bindOrderNo = await sentBinding(client);
    const together = meetingOf(5);
    production.gateway.onConfirm = async () => {
      await together();
      return { kind: 'wrong-code', reason: 'no' };
    };
    const replies = await Promise.all(Array.from({ length: 20 }, () => confirmCode(client, bindOrderNo)));
    expect(replies.map(({ code }) => code).sort()).toEqual([...Array(5).fill('0'), ...Array(15).fill('410004')]);
    expect(production.gateway.confirms).toHaveLength(5);
  });

  it('0: the sandbox has no limit', async () => {
    const bindOrderNo = await sentBinding(channel);
    service.gateway.onConfirm = async () => ({ kind: 'wrong-code', reason: 'no' });
    for (let n = 1; n <= 6; n += 1) await confirmCode(channel, bindOrderNo);
    service.gateway.onConfirm = async () => ({ kind: 'bound', institutionNo: 'x' });
    expect((await confirmCode(channel, bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  });
});

/** Starts a confirmation whose answer the institution holds back until the test releases it. */
async function held(bindOrderNo: string, outcome: BindOutcome) {
  const slow = gate();
  service.gateway.onConfirm = async () => {
    await slow.stand();
    return outcome;
  };
  const answer = confirmCode(channel, bindOrderNo);
  await slow.reached;
  return { answer, open: slow.open };
}

describe('agreements/bind-confirm, at the same time', () => {
  it('0: eight right codes bind once and get the same answer', async () => {
    const bindOrderNo = await sentBinding(channel);
    const together = meetingOf(8);
    service.gateway.onConfirm = async () => {
      await together();
      return { kind: 'bound', institutionNo: `inst-${service.gateway.confirms.length}` };
    };
    const replies = await Promise.all(Array.from({ length: 8 }, () => confirmCode(channel, bindOrderNo)));
    expect(new Set(replies.map(({ code, data }) => JSON.stringify([code, data]))).size).toBe(1);
    expect(replies[0]?.data.agreementNo).toBe(`AG${bindOrderNo}`);
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_SUCCESS');
  });

  it.each(['wrong-code', 'refused'] as const)('0: a %s after the binding gets the stored result', async (kind) => {
    const bindOrderNo = await sentBinding(channel);
    const { answer: loser, open } = await held(bindOrderNo, { kind, reason: 'no' });
    service.gateway.reset();
    const winner = await confirmCode(channel, bindOrderNo);
    open();
    expect((await loser).data).toEqual(winner.data);
    expect((await stored(service, bindOrderNo)).status).toBe('BIND_SUCCESS');
  });

  it('410003: a confirmation after a refusal, whatever the institution answers', async () => {
    const bindOrderNo = await sentBinding(channel);
    const { answer: late, open } = await held(bindOrderNo, { kind: 'bound', institutionNo: 'x' });
    service.gateway.onConfirm = async () => ({ kind: 'refused', reason: 'no' });
    await confirmCode(channel, bindOrderNo);
    open();
    expect((await late).code).toBe('410003');
    expect(await stored(service, bindOrderNo)).toMatchObject({ status: 'BIND_FAIL', agreement_no: null });
  });

  it('0: another card is sent meanwhile: the bound card is the one of the code', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    const { answer: confirming, open } = await held(bindOrderNo, { kind: 'bound', institutionNo: 'x' });
    const other = { ...person(), channelUserId: who.channelUserId, mobile: who.mobile };
    await sendCode(channel, other, { bindOrderNo });
    open();
    expect((await confirming).data).toMatchObject({ bankCardTailNo: who.bankCardNo.slice(-4) });
    const { details } = await stored(service, bindOrderNo);
    const card = unsealCard(await service.inMemory(channel), { agreementId: Number(bindOrderNo), details });
    expect(card.bankCardNo).toBe(who.bankCardNo);
  });

  it('0: another code is sent meanwhile: a refusal of the old code does not end the binding', async () => {
    const who = person();
    const bindOrderNo = await sentBinding(channel, who);
    const { answer: confirming, open } = await held(bindOrderNo, { kind: 'refused', reason: 'no' });
    await sendCode(channel, who, { bindOrderNo });
    open();
    expect((await confirming).data.agreementStatus).toBe('BIND_FAIL');
    service.gateway.reset();
    expect((await confirmCode(channel, bindOrderNo)).data.agreementStatus).toBe('BIND_SUCCESS');
  });
});

describe('agreements/bind-confirm, in the sandbox', () => {
  const { service: sandbox, channel: client } = agreementsOfFile({ sandbox: true });

  it('a mobile that ends in 9 gets no code, and 000000 is a wrong one', async () => {
    const refused = (await sendCode(client, person({ bankMobile: '13800138009' }))).data;
    expect(refused).toMatchObject({
      agreementStatus: 'BIND_ING',
      smsStatus: 'SEND_FAIL',
      failReason: expect.any(String),
    });
    for (const [code, answered] of [
      ['000000', 'BIND_FAIL'],
      ['123456', 'BIND_SUCCESS'],
      ['0', 'BIND_SUCCESS'],
    ] as const) {
      const bindOrderNo = await sentBinding(client, person({ bankMobile: '13900139000' }));
      const reply = await confirmCode(client, bindOrderNo, code);
      expect(reply.data.agreementStatus).toBe(answered);
      expect('failReason' in reply.data).toBe(answered === 'BIND_FAIL');
      expect((await stored(sandbox, bindOrderNo)).status).toBe(answered);
    }
  });

  it('a test card accepts 123456 only; a wrong code may be followed by another one, and 000000 ends the binding', async () => {
    const bindOrderNo = await sentBinding(client, person({ bankCardNo: '9999000000000001' }));
    const wrong = await confirmCode(client, bindOrderNo, '654321');
    expect(wrong.data).toMatchObject({ agreementStatus: 'BIND_FAIL', codeRetryable: true, bankCardTailNo: '0001' });
    expect((await confirmCode(client, bindOrderNo, '123456')).data.agreementStatus).toBe('BIND_SUCCESS');
    const other = await sentBinding(client, person({ bankCardNo: '9999000000000001' }));
    const ended = await confirmCode(client, other, '000000');
    expect(ended.data.agreementStatus).toBe('BIND_FAIL');
    expect('codeRetryable' in ended.data).toBe(false);
    expect((await confirmCode(client, other, '123456')).code).toBe('410003');
  });

  it('test cards cause 410004, 503001 and 429002; another card on the same binding works', async () => {
    const who = person({ bankCardNo: '9999000000000002' });
    const expired = await sentBinding(client, who);
    expect((await confirmCode(client, expired)).code).toBe('410004');
    expect(
      (await confirmCode(client, await sentBinding(client, person({ bankCardNo: '9999000000000003' })))).code,
    ).toBe('503001');
    expect((await sendCode(client, person({ bankCardNo: '9999000000000004' }))).code).toBe('429002');
    await sendCode(client, { ...who, bankCardNo: person().bankCardNo }, { bindOrderNo: expired });
    expect((await confirmCode(client, expired)).data.agreementStatus).toBe('BIND_SUCCESS');
  });
});
