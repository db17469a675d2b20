import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Debit, Institution, RefLookUp } from '@perennial/bridge-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAlipayInstitution, readAlipaySettings, readPrivateKey, readPublicKey } from '../src/index.js';
import { ALIPAY_PUBLIC_KEY, APP_ID, APP_PRIVATE_KEY, FakeAlipay, toList } from './fake-alipay.js';
import { zipGbk } from './zipped-gbk.js';

const DAY = 24 * 3_600_000;
const signal = new AbortController().signal;
const noBook: RefLookUp = { attemptNosOf: async () => new Map(), refundNosOf: async () => new Map() };

let fake: FakeAlipay;
let institution: Institution;

/** Bookings are dated yesterday, so that a bill exists today. */
const yesterday = () => Date.now() - DAY;
const dayOf = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 10);

beforeAll(async () => {
  fake = await new FakeAlipay({ now: yesterday }).start();
  institution = createInstitution();
});
afterAll(() => fake.stop());

function createInstitution(more: Partial<Parameters<typeof createAlipayInstitution>[0]> = {}): Institution {
  return createAlipayInstitution({
    appId: APP_ID,
    privateKey: readPrivateKey(APP_PRIVATE_KEY),
    alipayPublicKey: readPublicKey(ALIPAY_PUBLIC_KEY),
    endpoint: fake.url,
    subject: 'A year of films',
    notifyUrl: 'https://bridge.example/webhooks',
    ...more,
  });
}

let count = 0;
function debitOf(institutionNo: string, more: Partial<Debit> = {}): Debit {
  count += 1;
  return {
    attemptNo: `9001${String(count).padStart(8, '0')}`,
    appId: 'test_demo',
    institutionNo,
    amountCent: 1990,
    orderNo: '9001',
    cycleNo: 1,
    externalOrderNo: 'order-1',
    startedAt: Date.now(),
    ...more,
  };
}
const find = (debit: Debit) => institution.findDebit({ ...debit, institutionRef: undefined }, signal);
const receive = (body: string) => institution.readWebhook?.({ headers: {}, body: Buffer.from(body) }, noBook);
const notified = async (body: string) => (await receive(body))?.told;

describe('debits', () => {
  it('are executed once per number, with the same answer to each retry', async () => {
    const debit = debitOf('AGREED', { amountCent: 1990 });
    const paid = await institution.debit(debit, signal);
    expect(paid).toEqual({
      status: 'SUCCESS',
      amountCent: 1990,
      paidAt: expect.any(Number),
      institutionRef: expect.stringMatching(/^2026\d{24}$/),
    });
    // paidAt is correct whatever time zone the machine has: Alipay's times are in UTC+8.
    expect(paid.status === 'SUCCESS' && Math.abs(paid.paidAt - yesterday())).toBeLessThan(60_000);
    expect(fake.callsOf('alipay.trade.pay').at(-1)).toEqual({
      out_trade_no: debit.attemptNo,
      total_amount: '19.90',
      subject: 'A year of films',
      product_code: 'CYCLE_PAY_AUTH',
      agreement_params: { agreement_no: 'AGREED' },
      timeout_express: '30m',
    });
    expect(await institution.debit(debit, signal)).toEqual(paid);
    expect(await find(debit)).toEqual(paid);
    expect(fake.payments.get(debit.attemptNo)).toBe(1);
    expect(fake.trades.get(debit.attemptNo)?.notifyUrl).toBe('https://bridge.example/webhooks');
    expect(await find(debitOf('AGREED'))).toEqual({ status: 'NOT_FOUND' });
  });

  it.each([
    [1, '0.01'],
    [10, '0.10'],
    [100, '1.00'],
    [2_999_999_999, '29999999.99'],
  ])('of %i cents are %s yuan, there and back', async (amountCent, yuan) => {
    const debit = debitOf('AGREED', { amountCent });
    expect(await institution.debit(debit, signal)).toMatchObject({ status: 'SUCCESS', amountCent });
    expect(fake.callsOf('alipay.trade.pay').at(-1)).toMatchObject({ total_amount: yuan });
  });

  it.each([
    ['ACQ.BUYER_BALANCE_NOT_ENOUGH', 'RETRYABLE', 'INSUFFICIENT_FUNDS'],
    ['ACQ.CYCLE_PAY_DATE_NOT_MATCH', 'RETRYABLE', 'NOT_PERMITTED'],
    ['ACQ.SOMETHING_NEW', 'RETRYABLE', 'OTHER'],
    ['ACQ.CYCLE_PAY_SINGLE_FEE_EXCEED', 'FINAL', 'LIMIT_EXCEEDED'],
    ['ACQ.BUYER_ENABLE_STATUS_FORBID', 'FINAL', 'ACCOUNT_CLOSED'],
    ['ACQ.AGREEMENT_NOT_EXIST', 'AGREEMENT_INVALID', 'AGREEMENT_ENDED'],
    ['ACQ.AGREEMENT_INVALID', 'AGREEMENT_INVALID', 'AGREEMENT_ENDED'],
    ['ACQ.AGREEMENT_STATUS_NOT_NORMAL', 'AGREEMENT_INVALID', 'AGREEMENT_ENDED'],
  ])('that fail with %s are declined as %s, %s', async (subCode, decline, declineKind) => {
    fake.on(subCode, { decline: subCode });
    const reason = expect.stringContaining(`(${subCode})`);
    const declined = { status: 'DECLINED', decline, declineKind, reason };
    expect(await institution.debit(debitOf(subCode), signal)).toEqual(declined);
  });

  it('that wait are PENDING with their reference, until they are paid or closed', async () => {
    fake.on('WAITING', 'wait');
    const paid = debitOf('WAITING');
    const closed = debitOf('WAITING');
    const pending = { status: 'PENDING', institutionRef: expect.any(String) };
    for (const debit of [paid, closed]) expect(await institution.debit(debit, signal)).toEqual(pending);
    expect(await institution.debit(paid, signal)).toEqual(pending);
    expect(await find(paid)).toEqual(pending);
    fake.settle(paid.attemptNo, 'TRADE_SUCCESS');
    expect(await find(paid)).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    fake.settle(closed.attemptNo, 'TRADE_CLOSED');
    expect(await find(closed)).toMatchObject({ status: 'DECLINED', decline: 'RETRYABLE' });
    expect(await institution.debit(closed, signal)).toMatchObject({ status: 'DECLINED', decline: 'RETRYABLE' });
  });

  it.each(['unknown-paid', 'forged'] as const)('that are %s throw, and are found as paid', async (fate) => {
    fake.on(fate, fate);
    const debit = debitOf(fate);
    await expect(institution.debit(debit, signal)).rejects.toThrow(/^alipay\.trade\.pay: /);
    expect(await find(debit)).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    expect(await institution.debit(debit, signal)).toMatchObject({ status: 'SUCCESS' });
    expect(fake.payments.get(debit.attemptNo)).toBe(1);
  });

  it('whose connection breaks are resent by the SDK; if that breaks too they throw, and are found', async () => {
    const [once, twice] = [debitOf('AGREED'), debitOf('AGREED')];
    fake.lose('alipay.trade.pay', 1);
    expect(await institution.debit(once, signal)).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    fake.lose('alipay.trade.pay', 2);
    await expect(institution.debit(twice, signal)).rejects.toThrow(/^alipay\.trade\.pay: /);
    expect(await find(twice)).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    for (const { attemptNo } of [once, twice]) expect(fake.payments.get(attemptNo)).toBe(1);
  });

  it.each(['unknown-unpaid', 'lost-unpaid'] as const)('that are %s throw, and are not found', async (fate) => {
    fake.on(fate, fate);
    const debit = debitOf(fate);
    await expect(institution.debit(debit, signal)).rejects.toThrow();
    expect(await find(debit)).toEqual({ status: 'NOT_FOUND' });
  });

  it('follow Alipay’s codes exactly for success, decline and unknown number', async () => {
    const all = { trade_no: '1', total_amount: '19.9', gmt_payment: '2026-01-01 00:00:00', refund_fee: '1.00' };
    const debit = debitOf('AGREED');
    const pay = (answer: object) => {
      fake.say('alipay.trade.pay', { ...all, ...answer });
      return institution.debit(debit, signal);
    };
    const ask = (answer: object) => {
      fake.say('alipay.trade.query', { ...all, ...answer });
      return find(debit);
    };
    const pending = { status: 'PENDING', institutionRef: '1' };
    expect(await pay({ code: '10000' })).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    expect(await pay({ code: '10003' })).toEqual(pending);
    for (const code of ['20000', '40004']) {
      await expect(pay({ code, sub_code: 'ACQ.SYSTEM_ERROR' })).rejects.toThrow('SYSTEM_ERROR');
    }
    await expect(pay({ code: '20000', sub_code: 'aop.unknow-error' })).rejects.toThrow('unknow-error');
    expect(await ask({ code: '10000', trade_status: 'TRADE_FINISHED' })).toMatchObject({ amountCent: 1990 });
    for (const status of ['WAIT_BUYER_PAY', 'SOMETHING_NEW']) {
      expect(await ask({ code: '10000', trade_status: status })).toEqual(pending);
    }
    await expect(ask({ code: '40004', sub_code: 'ACQ.INVALID_PARAMETER' })).rejects.toThrow('INVALID_PARAMETER');

    const refund = { refundNo: 'R1', attemptNo: debit.attemptNo, amountCent: 1, debitRef: 'unused' };
    const refunded = { code: '10000', trade_no: '1', refund_amount: '0.01', gmt_refund_pay: '2026-01-01 00:00:00' };
    const asked = (answer: object) => {
      fake.say('alipay.trade.fastpay.refund.query', { ...refunded, ...answer });
      return institution.findRefund(refund, signal);
    };
    expect(await asked({ refund_status: 'REFUND_SUCCESS' })).toMatchObject({ status: 'SUCCESS', amountCent: 1 });
    expect(await asked({ refund_status: 'REFUND_PROCESSING' })).toEqual({ status: 'PENDING' });
    expect(await asked({})).toEqual({ status: 'NOT_FOUND' });
    // Alipay says that this request moved no money, and the query finds no refund: the outcome is unknown.
    fake.say('alipay.trade.refund', { ...refunded, fund_change: 'N' });
    fake.say('alipay.trade.fastpay.refund.query', refunded);
    expect(await institution.refund(refund, signal)).toEqual({ status: 'PENDING' });
  });

  it('an error does not quote the answer, and a wrong setting declines nothing', async () => {
    fake.on('quoting', 'forged');
    const error = await Promise.resolve(institution.debit(debitOf('quoting'), signal)).catch((thrown: Error) => thrown);
    expect(String(error)).not.toContain('5620');
    const wrong = createInstitution({ appId: '2021000000000009' });
    await expect(wrong.debit(debitOf('AGREED'), signal)).rejects.toThrow(/isv.invalid-app-id/);
  });

  it('a number that Alipay does not accept is sent encoded, and is decoded again', async () => {
    for (const attemptNo of [
      `CB1!"#$%&'()*+,-./:;<=>?@[]^_{|}~${'0'.repeat(31)}`,
      'P_1',
      '-',
      '9'.repeat(65).slice(0, 64),
    ]) {
      const debit = debitOf('AGREED', { attemptNo });
      expect(await institution.debit(debit, signal)).toMatchObject({ status: 'SUCCESS' });
      expect(await find(debit)).toMatchObject({ status: 'SUCCESS' });
      const sent = String(fake.callsOf('alipay.trade.pay').at(-1)?.['out_trade_no']);
      expect(sent).toMatch(/^\w{1,64}$/);
      expect(await notified(fake.tradeNotice(sent))).toMatchObject([{ attemptNo, outcome: { status: 'SUCCESS' } }]);
    }
  });
});

describe('refunds', () => {
  it('are executed once per number, a repetition is found, and too large an amount is refused', async () => {
    const { attemptNo } = await paidDebit();
    const refund = { refundNo: `R${attemptNo}`, attemptNo, amountCent: 990, debitRef: 'unused' };
    const made = await institution.refund(refund, signal);
    expect(made).toEqual({
      status: 'SUCCESS',
      amountCent: 990,
      refundedAt: expect.any(Number),
      institutionRef: fake.trades.get(attemptNo)?.tradeNo,
    });
    // After a resend Alipay answers fund_change N and the sum of all refunds, so the bridge queries the refund itself.
    await institution.refund({ ...refund, refundNo: `S${attemptNo}`, amountCent: 10 }, signal);
    expect(await institution.refund(refund, signal)).toEqual(made);
    expect(await institution.findRefund(refund, signal)).toEqual(made);
    expect(fake.trades.get(attemptNo)?.refunds.size).toBe(2);

    const refused = { status: 'REFUSED', reason: expect.any(String) };
    for (const amountCent of [991, 2000]) {
      const more = { ...refund, refundNo: `T${attemptNo}`, amountCent };
      expect(await institution.refund(more, signal)).toEqual(refused);
    }
    expect(await institution.refund({ ...refund, amountCent: 5 }, signal)).toEqual(refused);
    expect(await institution.refund({ ...refund, attemptNo: 'NEVER' }, signal)).toEqual(refused);
    expect(await institution.refund({ ...refund, refundNo: 'R-1' }, signal)).toEqual(refused);
    for (const unknown of [{ refundNo: 'R1' }, { refundNo: 'R1', attemptNo }, { refundNo: 'R1', attemptNo: 'NEVER' }]) {
      expect(await institution.findRefund(unknown, signal)).toEqual({ status: 'NOT_FOUND' });
    }
  });

  it('whose answer is lost throw, and are found', async () => {
    const { attemptNo } = await paidDebit();
    const refund = { refundNo: `R${attemptNo}`, attemptNo, amountCent: 1990, debitRef: 'unused' };
    fake.lose('alipay.trade.refund', 2);
    await expect(institution.refund(refund, signal)).rejects.toThrow();
    expect(await institution.findRefund(refund, signal)).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
    // The trade is closed now, as a trade that was never paid would be. The debit still counts as a success.
    expect(fake.trades.get(attemptNo)?.status).toBe('TRADE_CLOSED');
    expect(await institution.findDebit(knownDebit(attemptNo), signal)).toMatchObject({ status: 'SUCCESS' });
    expect(await notified(fake.tradeNotice(attemptNo))).toMatchObject([{ outcome: { status: 'SUCCESS' } }]);
  });
});

async function paidDebit(): Promise<Debit> {
  const debit = debitOf('AGREED');
  await institution.debit(debit, signal);
  return debit;
}
const knownDebit = (attemptNo: string) => ({ ...debitOf('AGREED'), attemptNo, institutionRef: undefined });

describe('agreements', () => {
  it('are ended, and ended again', async () => {
    for (const _ of [1, 2]) expect(await institution.cancelAgreement('ENDING', signal)).toEqual({ status: 'CANCELED' });
    expect(await institution.debit(debitOf('ENDING'), signal)).toMatchObject({ decline: 'AGREEMENT_INVALID' });
    fake.on('ANOTHERS', { decline: 'AUTHOREE_IS_NOT_MATCH' });
    expect(await institution.cancelAgreement('ANOTHERS', signal)).toEqual({
      status: 'REFUSED',
      reason: expect.stringContaining('AUTHOREE_IS_NOT_MATCH'),
    });
    fake.lose('alipay.user.agreement.unsign', 2);
    await expect(institution.cancelAgreement('LOST', signal)).rejects.toThrow();
    expect(await institution.cancelAgreement('LOST', signal)).toEqual({ status: 'CANCELED' });
  });
});

describe('notices', () => {
  it('report debits in any order, and ended agreements', async () => {
    fake.on('NOTICED', 'wait');
    const debit = debitOf('NOTICED');
    await institution.debit(debit, signal);
    const early = fake.tradeNotice(debit.attemptNo);
    fake.settle(debit.attemptNo, 'TRADE_SUCCESS');
    const late = fake.tradeNotice(debit.attemptNo);
    for (const body of [late, early, late]) {
      const read = await receive(body);
      expect(read?.answer).toEqual({ status: 200, contentType: 'text/plain', body: 'success' });
      const status = body === early ? 'PENDING' : 'SUCCESS';
      expect(read?.told).toMatchObject([{ about: 'debit', attemptNo: debit.attemptNo, outcome: { status } }]);
    }
    expect((await receive(late))?.told).toMatchObject([{ outcome: await find(debit) }]);
    expect(await notified(fake.unsignNotice('20260101'))).toEqual([
      { about: 'agreement-ended', institutionNo: '20260101', reason: expect.any(String) },
    ]);
    const others = [
      { notify_type: 'dut_user_sign', agreement_no: '1', status: 'NORMAL' },
      { notify_type: 'something_new', agreement_no: '1', status: 'UNSIGN' },
      // This number begins like a hashed number of this bridge, but the subject holds no original number.
      { notify_type: 'trade_status_sync', out_trade_no: 'P_1', subject: 'Films 31', trade_status: 'TRADE_CLOSED' },
    ];
    for (const other of others) expect(await notified(fake.notice({ app_id: APP_ID, ...other }))).toEqual([]);
  });

  it('that are forged, changed, unsigned or of another app are not believed', async () => {
    const { attemptNo } = await paidDebit();
    const good = new URLSearchParams(fake.tradeNotice(attemptNo));
    const changed = (name: string, value: string | undefined) => {
      const copy = new URLSearchParams(good);
      if (value === undefined) copy.delete(name);
      else copy.set(name, value);
      return copy.toString();
    };
    expect(await receive(good.toString())).toBeDefined();
    const bad = [
      fake.forgedTradeNotice(attemptNo),
      changed('total_amount', '0.01'),
      changed('sign', undefined),
      changed('sign', 'AAAA'),
      changed('sign_type', undefined),
      changed('sign_type', 'RSA'),
      changed('sign_type', 'none'),
      fake.notice({ notify_type: 'dut_user_unsign', app_id: '2021', agreement_no: '1', status: 'UNSIGN' }),
      'no form at all',
      '',
    ];
    for (const body of bad) expect(await receive(body)).toBeUndefined();
  });
});

describe('the statement', () => {
  it('has every debit and refund of the day, and no others', async () => {
    const own = createInstitution({ numberPrefix: 'pn_' });
    const first = debitOf('AGREED', { amountCent: 3001 });
    const odd = debitOf('AGREED', { attemptNo: '#1' });
    for (const debit of [first, odd]) await own.debit(debit, signal);
    const refund = { refundNo: 'RF1', attemptNo: odd.attemptNo, amountCent: 7, debitRef: 'unused' };
    await own.refund(refund, signal);
    fake.on('DECLINED', { decline: 'ACQ.BUYER_BALANCE_NOT_ENOUGH' });
    await own.debit(debitOf('DECLINED'), signal);

    const day = dayOf(yesterday());
    const { lines, nextCursor } = await own.statement(day, undefined, signal, noBook);
    const status = 'SUCCESS';
    const bookedAt = expect.any(Number);
    const institutionRef = expect.stringMatching(/^2026\d{24}$/);
    expect(lines).toEqual([
      { kind: 'DEBIT', number: first.attemptNo, amountCent: 3001, status, bookedAt, institutionRef },
      { kind: 'DEBIT', number: odd.attemptNo, amountCent: 1990, status, bookedAt, institutionRef },
      { kind: 'REFUND', number: 'RF1', amountCent: 7, status, bookedAt, institutionRef },
    ]);
    expect(nextCursor).toBeUndefined();
    for (const line of lines) expect(dayOf(line.bookedAt)).toBe(day);
    // Earlier tests made trades without the prefix, which act as the merchant's other trades. The statement of `own`,
    // which was read above, excludes them.
    expect((await institution.statement(day, undefined, signal, noBook)).lines.length).toBeGreaterThan(3);
  });

  it('comes in pages, from one download', async () => {
    const paged = createInstitution();
    for (const trade of Array.from({ length: 1200 }, (_, index) => `77${index}`)) {
      const template = [...fake.trades.values()][0];
      if (template) fake.trades.set(trade, { ...template, outTradeNo: trade, refunds: new Map() });
    }
    const asked = fake.callsOf('alipay.data.dataservice.bill.downloadurl.query').length;
    const day = dayOf(yesterday());
    const page = await paged.statement(day, undefined, signal, noBook);
    expect([page.lines.length, page.nextCursor]).toEqual([1000, '1000']);
    const last = await paged.statement(day, page.nextCursor, signal, noBook);
    expect(last.nextCursor).toBeUndefined();
    const numbers = [...page.lines, ...last.lines].map(({ kind, number }) => `${kind} ${number}`);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.filter((number) => number.startsWith('DEBIT 77'))).toHaveLength(1200);
    expect(fake.callsOf('alipay.data.dataservice.bill.downloadurl.query').length).toBe(asked + 1);
  });

  it('is absent for today, for a late bill and for a truncated bill', async () => {
    const today = dayOf(Date.now());
    await expect(institution.statement(today, undefined, signal, noBook)).rejects.toThrow(/next morning/);
    fake.loseBills(true);
    const late = createInstitution();
    await expect(late.statement(dayOf(yesterday()), undefined, signal, noBook)).rejects.toThrow(/no bill of/);
    // For a day so long ago, a missing bill means that there were no trades.
    const old = dayOf(Date.now() - 4 * DAY);
    expect(await late.statement(old, undefined, signal, noBook)).toEqual({ lines: [], nextCursor: undefined });
    fake.loseBills(false);
    const whole = fake.bill.bind(fake);
    const cuts = [
      (zip: Buffer) => zip.subarray(0, zip.length - 30),
      (zip: Buffer) => {
        const size = zip.indexOf(Buffer.from('PK\x01\x02')) + 24;
        zip.writeUInt32LE(zip.readUInt32LE(size) + 1, size);
        return zip;
      },
      () => zipGbk([{ name: 'list.csv', text: toList([], { 交易: 1, 退款: 0 }) }]),
      () => zipGbk([{ name: 'list.csv', text: toList([], { 交易: 0, 退款: 0 }).replace('订单金额', '金额') }]),
      () => zipGbk([{ name: 'summary.csv', text: '门店编号\r\n' }]),
      () => Buffer.from('not a zip'),
    ];
    for (const cut of cuts) {
      fake.bill = (day) => cut(whole(day));
      await expect(late.statement(dayOf(yesterday()), undefined, signal, noBook)).rejects.toThrow();
    }
    fake.bill = whole;
    expect((await late.statement(dayOf(yesterday()), undefined, signal, noBook)).lines.length).toBeGreaterThan(0);
  });
});

describe('keys', () => {
  it('are read in every format of Alipay’s tools, and errors do not quote them', () => {
    const key = createPrivateKey(APP_PRIVATE_KEY);
    for (const type of ['pkcs1', 'pkcs8'] as const) {
      const pem = key.export({ format: 'pem', type }).toString();
      const bare = key.export({ format: 'der', type }).toString('base64');
      for (const text of [pem, bare, `${bare}\n`]) expect(readPrivateKey(text)).toBe(readPrivateKey(APP_PRIVATE_KEY));
    }
    const bare = ALIPAY_PUBLIC_KEY.replace(/-----.*-----|\n/g, '');
    expect(readPublicKey(bare)).toBe(readPublicKey(ALIPAY_PUBLIC_KEY));
    expect(() => readPrivateKey('c2VjcmV0')).toThrow(/^not an RSA private key/);
    expect(() => readPublicKey('c2VjcmV0')).toThrow(/^not an RSA public key/);
    expect(() => readPublicKey(APP_PRIVATE_KEY)).toThrow(/private key/);
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const shortPem = short.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    expect(() => readPrivateKey(shortPem)).toThrow(/^the key has 1024 bits, but needs at least 2048/);
    const shortPublic = short.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(() => readPublicKey(shortPublic)).toThrow(/^the key has 1024 bits, but needs at least 2048/);
  });
});

describe('settings', () => {
  it('that are missing or wrong are named, and keys are not quoted', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'alipay-'));
    const [app, alipay, bad] = ['app.pem', 'alipay.pem', 'bad.pem'].map((name) => path.join(folder, name));
    await writeFile(app ?? '', APP_PRIVATE_KEY);
    await writeFile(alipay ?? '', ALIPAY_PUBLIC_KEY);
    await writeFile(bad ?? '', 'c2VjcmV0');
    const own = path.join(folder, 'own.pem');
    await writeFile(own, createPublicKey(APP_PRIVATE_KEY).export({ format: 'pem', type: 'spki' }));
    const good = { ALIPAY_APP_ID: APP_ID, ALIPAY_PRIVATE_KEY_FILE: app, ALIPAY_PUBLIC_KEY_FILE: alipay };
    expect(await readAlipaySettings(good)).toMatchObject({
      appId: APP_ID,
      subject: 'Subscription',
      endpoint: 'https://openapi.alipay.com',
    });
    const wrong: readonly [Record<string, string | undefined>, RegExp][] = [
      [{ ALIPAY_APP_ID: undefined }, /^ALIPAY_APP_ID is not set$/],
      [{ ALIPAY_APP_ID: '2021' }, /^ALIPAY_APP_ID must have 16 digits$/],
      [{ ALIPAY_PRIVATE_KEY_FILE: `${folder}/none` }, /^ALIPAY_PRIVATE_KEY_FILE: \S+ cannot be read$/],
      [{ ALIPAY_PRIVATE_KEY_FILE: bad }, /^ALIPAY_PRIVATE_KEY_FILE: \S+: not an RSA private key/],
      [{ ALIPAY_PUBLIC_KEY_FILE: app }, /^ALIPAY_PUBLIC_KEY_FILE: \S+: a private key/],
      [{ ALIPAY_PUBLIC_KEY_FILE: own }, /^ALIPAY_PUBLIC_KEY_FILE holds the public key of the app/],
      [{ ALIPAY_SUBJECT: 'a/b' }, /^ALIPAY_SUBJECT /],
      [{ ALIPAY_NUMBER_PREFIX: 'a-b' }, /^ALIPAY_NUMBER_PREFIX /],
      [{ ALIPAY_ENDPOINT: 'http://openapi.alipay.com' }, /^ALIPAY_ENDPOINT must be an https address$/],
    ];
    for (const [more, message] of wrong) {
      await expect(readAlipaySettings({ ...good, ...more })).rejects.toThrow(message);
    }
    await rm(folder, { recursive: true });
  });
});
