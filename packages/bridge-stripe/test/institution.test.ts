import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { BadMessage, type Debit, type Institution, type KnownDebit, type RefLookUp } from '@perennial/bridge-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStripeInstitution, type StripeSettings } from '../src/index.js';
import { readStripeSettings } from '../src/settings.js';
import { type FakeStripe, startFakeStripe, type TestCard } from './fake-stripe.js';

const HOUR_MS = 3_600_000;

/** Starts at 2026-03-20 12:00 in Shanghai. Tests only move it forward. */
const clock = { at: Date.parse('2026-03-20T12:00:00+08:00'), now: () => clock.at };
const unhurried = new AbortController().signal;
const noBook: RefLookUp = { attemptNosOf: async () => new Map(), refundNosOf: async () => new Map() };

let fake: FakeStripe;
let institution: Institution;

beforeAll(async () => {
  fake = await startFakeStripe({ now: clock.now });
  institution = create();
});
afterAll(() => fake.stop());

function create(more: Partial<StripeSettings> = {}): Institution {
  const { secretKey, webhookSecret, url: apiBase } = fake;
  return createStripeInstitution({ secretKey, webhookSecret, apiBase, clock, ...more });
}

let count = 0;
function newNo(kind = ''): string {
  count += 1;
  return `${kind}10010001${String(count).padStart(8, '0')}`;
}

function debitOf(institutionNo: string, more: Partial<Debit> = {}): Debit {
  return {
    attemptNo: newNo(),
    appId: 'test',
    institutionNo,
    amountCent: 1990,
    orderNo: '10010001',
    cycleNo: 1,
    externalOrderNo: 'order-1',
    startedAt: clock.now(),
    ...more,
  };
}

const known = (debit: Debit, institutionRef?: string): KnownDebit => ({ ...debit, institutionRef });
const lost = (debit: Debit): KnownDebit => ({ ...known(debit), institutionNo: undefined });
const paymentsOf = ({ attemptNo }: Debit) =>
  fake.payments.filter(({ metadata }) => metadata['perennial_attempt_no'] === attemptNo);
const debit = (one: Debit) => institution.debit(one, unhurried);
const find = (one: KnownDebit) => institution.findDebit(one, unhurried);

async function pay(card: TestCard = 'pm_card_visa', more: Partial<Debit> = {}) {
  const one = debitOf(fake.attach(card), more);
  const outcome = await debit(one);
  if (outcome.status !== 'SUCCESS') throw new Error(`not paid: ${outcome.status}`);
  return { one, outcome };
}

async function countRequests(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = fake.requests.length;
  await work();
  return fake.requests.slice(before);
}

describe('a debit', () => {
  it('is one payment of the customer, however often it is sent', async () => {
    const one = debitOf(fake.attach('pm_card_visa'), { attemptNo: `A'"\\${'~'.repeat(60)}` });
    const outcome = await debit(one);
    const [payment] = paymentsOf(one);
    expect(outcome).toEqual({
      status: 'SUCCESS',
      amountCent: 1990,
      paidAt: clock.now(),
      institutionRef: payment?.id,
    });
    expect(payment).toMatchObject({ amount: 1990, currency: 'cny', status: 'succeeded' });
    expect(await debit(one)).toEqual(outcome);
    expect(await create({ realm: 'other' }).debit(one, unhurried)).toMatchObject({ status: 'SUCCESS' });
    expect(paymentsOf(one).map(({ metadata }) => metadata['perennial_realm'])).toEqual(['perennial', 'other']);
    await expect(debit({ ...one, amountCent: 1991 })).rejects.toThrow('same parameters');
    expect(await create({ currency: 'EUR' }).debit(debitOf(one.institutionNo), unhurried)).toMatchObject({
      amountCent: 1990,
    });
    expect(fake.payments.at(-1)?.currency).toBe('eur');
    expect([create().currency, create({ currency: 'eur' }).currency]).toEqual(['CNY', 'EUR']);
    if (payment !== undefined) payment.received = 1500;
    expect(await find(known(one, payment?.id))).toMatchObject({ status: 'SUCCESS', amountCent: 1500 });
    const wallet = debitOf(fake.attach('leads_elsewhere'));
    expect(await debit(wallet)).toMatchObject({ status: 'DECLINED' });
    const leading = create({ returnUrl: 'https://shop.example/back' });
    expect(await leading.debit({ ...wallet, attemptNo: newNo() }, unhurried)).toMatchObject({ status: 'SUCCESS' });
  });

  it('that was refused has the current state of the payment that the refusal names', async () => {
    const one = debitOf(fake.attach('pm_card_visa_chargeDeclined'));
    expect(await debit(one)).toMatchObject({ status: 'DECLINED' });
    const [payment] = paymentsOf(one);
    if (payment !== undefined) fake.settle(payment);
    expect(await debit(one)).toMatchObject({ status: 'SUCCESS', institutionRef: payment?.id });
    // Stripe answers "missing", but for something other than the customer or the payment method.
    fake.fail('/v1/payment_intents', 'misses-something');
    expect(await debit(debitOf(one.institutionNo))).toMatchObject({ status: 'DECLINED', decline: 'RETRYABLE' });
  });

  it.each([
    ['pm_card_visa_chargeDeclined', 'RETRYABLE', 'OTHER', 'generic_decline'],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', 'RETRYABLE', 'INSUFFICIENT_FUNDS', 'insufficient_funds'],
    ['pm_card_chargeDeclinedProcessingError', 'RETRYABLE', 'TECHNICAL', 'processing_error'],
    ['declined_with_advice', 'FINAL', 'OTHER', 'generic_decline'],
    ['pm_card_chargeDeclinedExpiredCard', 'FINAL', 'CARD_EXPIRED', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'FINAL', 'WRONG_DETAILS', 'incorrect_cvc'],
    ['pm_card_radarBlock', 'FINAL', 'SUSPECTED_FRAUD', 'fraudulent'],
    ['pm_card_authenticationRequired', 'FINAL', 'NOT_PERMITTED', 'authentication_required'],
    ['pm_card_visa_chargeDeclinedLostCard', 'AGREEMENT_INVALID', 'CARD_LOST', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'AGREEMENT_INVALID', 'CARD_LOST', 'stolen_card'],
  ] as const)('on %s is declined as %s, %s', async (card, decline, declineKind, code) => {
    const one = debitOf(fake.attach(card));
    const declined = { status: 'DECLINED', decline, declineKind, reason: expect.stringContaining(`(${code})`) };
    expect(await debit(one)).toEqual(declined);
    expect(await find(known(one))).toEqual(declined);
    expect(await debit(one)).toEqual(declined);
    expect(paymentsOf(one)).toHaveLength(1);
  });

  it('on an agreement that no longer exists is declined as such', async () => {
    const detached = fake.attach('pm_card_visa');
    fake.detach(detached);
    const [customer = '', method = ''] = fake.attach('pm_card_visa').split('/');
    const ofAnother = `${fake.attach('pm_card_visa').split('/')[0]}/${method}`;
    const numbers = [
      detached,
      ofAnother,
      `${customer}/pm_none`,
      `cus_none/${method}`,
      'cus_only',
      '6222020000001234567',
    ];
    for (const institutionNo of numbers) {
      const one = debitOf(institutionNo);
      expect(await debit(one), institutionNo).toMatchObject({ status: 'DECLINED', decline: 'AGREEMENT_INVALID' });
      expect(paymentsOf(one)).toEqual([]);
    }
    expect(await debit(debitOf(fake.attach('pm_card_visa'), { amountCent: 0 }))).toMatchObject({ decline: 'FINAL' });
  });

  it('that Stripe still processes is pending, and has its result later', async () => {
    const one = debitOf(fake.attach('pm_usBankAccount_processing'));
    const other = debitOf(one.institutionNo);
    const pending = await debit(one);
    await debit(other);
    const [payment, otherPayment] = [...paymentsOf(one), ...paymentsOf(other)];
    expect(pending).toEqual({ status: 'PENDING', institutionRef: payment?.id });
    clock.at += HOUR_MS;
    if (payment === undefined || otherPayment === undefined) throw new Error('not there');
    fake.settle(payment);
    fake.settle(otherPayment, { code: 'debit_not_authorized' });
    expect(await find(known(one, payment.id))).toMatchObject({ status: 'SUCCESS', paidAt: clock.now() });
    expect(await find(known(other))).toMatchObject({ status: 'DECLINED', decline: 'AGREEMENT_INVALID' });
    otherPayment.last_payment_error = { code: 'of_tomorrow' };
    expect(await find(known(other))).toMatchObject({ decline: 'RETRYABLE', reason: 'declined (of_tomorrow)' });
  });

  it('that waits for the customer is given up, so that it can never be paid', async () => {
    const one = debitOf(fake.attach('wants_customer'));
    expect(await debit(one)).toMatchObject({ status: 'PENDING' });
    expect(await find(known(one))).toMatchObject({ status: 'PENDING' });
    clock.at += 5 * 60_000;
    fake.fail('/v1/payment_intents/pi', 'busy');
    await expect(find(known(one))).rejects.toThrow();
    expect(await find(known(one))).toMatchObject({ status: 'DECLINED', decline: 'FINAL' });
    expect(paymentsOf(one)).toMatchObject([{ status: 'canceled' }]);
  });
});

describe('a debit without an answer', () => {
  it('is unknown, is queried, and is never resent automatically', async () => {
    const agreement = fake.attach('pm_card_visa');
    for (const fault of ['lost-answer', 'error-after'] as const) {
      const one = debitOf(agreement);
      fake.fail('/v1/payment_intents', fault);
      const sent = await countRequests(() => expect(debit(one)).rejects.toThrow());
      expect(sent, fault).toEqual(['POST /v1/payment_intents']);
      expect(await find(known(one)), fault).toMatchObject({ status: 'SUCCESS', amountCent: 1990 });
      expect(await find(lost(one)), fault).toMatchObject({ status: 'SUCCESS' });
    }
    for (const fault of ['lost-request', 'rate-limit', 'bad-key', 'busy', 'led-away'] as const) {
      const one = debitOf(agreement);
      fake.fail('/v1/payment_intents', fault);
      const sent = await countRequests(() => expect(debit(one)).rejects.toThrow());
      expect(sent, fault).toHaveLength(1);
      expect(await find(known(one)), fault).toEqual({ status: 'NOT_FOUND' });
      expect(await debit(one), fault).toMatchObject({ status: 'SUCCESS' });
      fake.fail('/v1/payment_intents', fault);
      await expect(find(known(one)), fault).rejects.toThrow();
    }
  });

  it('is pending while the same one is in flight', async () => {
    const one = debitOf(fake.attach('pm_card_visa'));
    const held = fake.hold('/v1/payment_intents');
    const first = debit(one);
    await held.arrived;
    expect(await debit(one)).toEqual({ status: 'PENDING' });
    held.letGo();
    expect(await first).toMatchObject({ status: 'SUCCESS' });
    expect(await debit(one)).toEqual(await first);
    expect(paymentsOf(one)).toHaveLength(1);
  });

  it('is found without the book: in the recent list, and later by search', async () => {
    const { one, outcome } = await pay();
    fake.forgetKeys();
    clock.at += fake.searchLagMs - 1000;
    const asks = await countRequests(async () => expect(await find(lost(one))).toEqual(outcome));
    expect(asks).not.toContain('GET /v1/payment_intents/search');
    expect(await find({ attemptNo: one.attemptNo } as KnownDebit)).toEqual(outcome);
    clock.at += 2 * HOUR_MS;
    const later = await countRequests(async () => expect(await find(lost(one))).toEqual(outcome));
    expect(later).toContain('GET /v1/payment_intents/search');
    expect(await find(known(one))).toEqual(outcome);
    expect(await find(lost({ ...one, attemptNo: newNo() }))).toEqual({ status: 'NOT_FOUND' });
    // A search may find similar numbers; the bridge must accept only an identical number.
    expect(await find({ ...lost(one), attemptNo: `${one.attemptNo}0` })).toEqual({ status: 'NOT_FOUND' });
    await expect(find({ ...lost(one), attemptNo: "it's" })).rejects.toThrow('cannot search');
  });

  it('is found after pages of others, and is unknown after too many', async () => {
    const agreement = fake.attach('pm_card_visa');
    const one = debitOf(agreement);
    await debit(one);
    const [first] = paymentsOf(one);
    if (first === undefined) throw new Error('not there');
    for (let i = 0; i < 450; i += 1) fake.payments.push({ ...first, id: `pi_x${i}`, metadata: {} });
    const asks = await countRequests(async () => expect(await find(known(one))).toMatchObject({ status: 'SUCCESS' }));
    expect(asks.filter((ask) => ask === 'GET /v1/payment_intents')).toHaveLength(5);
    // The service's clock may be ahead of Stripe's.
    const ahead = { ...one, startedAt: one.startedAt + 9 * 60_000 };
    expect(await find(lost(ahead))).toMatchObject({ status: 'SUCCESS' });
    const push = (customer: string) => {
      for (let i = 0; i < 2000; i += 1) fake.payments.push({ ...first, customer, id: `pi_y${i}`, metadata: {} });
    };
    push('cus_busy');
    expect(await find(known(ahead))).toMatchObject({ status: 'SUCCESS' });
    await expect(find(lost(debitOf(agreement)))).rejects.toThrow('too many to be certain');
    fake.payments.splice(-2000);
    push(first.customer);
    await expect(find(known(one))).rejects.toThrow('too many to be certain');
    fake.payments.splice(fake.payments.indexOf(first) + 1);
  });

  it('is queried until the caller gives up', async () => {
    const { one } = await pay();
    await expect(institution.findDebit(known(one), AbortSignal.abort())).rejects.toThrow();
  });
});

describe('a refund', () => {
  const refundOf = (attemptNo: string, debitRef: string, amountCent = 1990) => ({
    refundNo: newNo('R'),
    attemptNo,
    amountCent,
    debitRef,
  });
  const refund = (one: ReturnType<typeof refundOf>) => institution.refund(one, unhurried);
  const findRefund = (one: Parameters<Institution['findRefund']>[0]) => institution.findRefund(one, unhurried);

  it('is executed once, and never exceeds the debit', async () => {
    const { one, outcome } = await pay();
    const part = refundOf(one.attemptNo, outcome.institutionRef, 990);
    const given = await refund(part);
    expect(given).toMatchObject({ status: 'SUCCESS', amountCent: 990, refundedAt: clock.now() });
    expect(await refund(part)).toEqual(given);
    expect(await findRefund({ refundNo: part.refundNo })).toEqual(given);
    expect(await findRefund(part)).toEqual(given);
    expect(await refund(refundOf(one.attemptNo, outcome.institutionRef, 1001))).toMatchObject({ status: 'REFUSED' });
    expect(await refund(refundOf(one.attemptNo, outcome.institutionRef, 1000))).toMatchObject({ status: 'SUCCESS' });
    expect(await refund(refundOf(one.attemptNo, outcome.institutionRef, 1))).toEqual({
      status: 'REFUSED',
      reason: 'Stripe refused it: charge_already_refunded',
    });
    expect(await refund(refundOf(newNo(), 'pi_none'))).toMatchObject({ status: 'REFUSED' });
    expect(await findRefund({ refundNo: newNo('R') })).toEqual({ status: 'NOT_FOUND' });
    await expect(refund({ ...part, amountCent: 991 })).rejects.toThrow('same parameters');
    // A debit and a refund can have the same number.
    const { outcome: other } = await pay();
    const same = { ...refundOf(one.attemptNo, other.institutionRef, 1), refundNo: one.attemptNo };
    expect(await refund(same)).toMatchObject({ status: 'SUCCESS', amountCent: 1 });
  });

  it('is found among the latest 500 of the account, and by its debit among all', async () => {
    const { one, outcome } = await pay();
    const old = refundOf(one.attemptNo, outcome.institutionRef, 1);
    const given = await refund(old);
    await pay();
    const [first, payment] = [fake.refunds.at(-1), fake.payments.at(-1)];
    if (first === undefined || payment === undefined) throw new Error('not there');
    const push = (times: number) => {
      for (let i = 0; i < times; i += 1)
        fake.refunds.push({ ...first, id: `re_x${times}_${i}`, payment, metadata: {} });
    };
    // The booking time counts.
    Object.assign(first, { created: first.created - 60 });
    push(499);
    expect(await findRefund({ refundNo: old.refundNo })).toEqual(given);
    push(1);
    expect(await findRefund({ refundNo: old.refundNo })).toEqual({ status: 'NOT_FOUND' });
    expect(await findRefund(old)).toEqual(given);
    fake.refunds.splice(-500);
  });

  it('without an answer is found by its debit', async () => {
    const { one, outcome } = await pay();
    const lostOne = refundOf(one.attemptNo, outcome.institutionRef, 10);
    fake.fail('/v1/refunds', 'lost-answer');
    await expect(refund(lostOne)).rejects.toThrow();
    expect(await findRefund(lostOne)).toMatchObject({ status: 'SUCCESS', amountCent: 10 });
    fake.fail('/v1/refunds', 'rate-limit');
    const never = refundOf(one.attemptNo, outcome.institutionRef, 10);
    await expect(refund(never)).rejects.toThrow();
    expect(await findRefund(never)).toEqual({ status: 'NOT_FOUND' });
    const held = fake.hold('/v1/refunds');
    const first = refund(never);
    await held.arrived;
    expect(await refund(never)).toEqual({ status: 'PENDING' });
    held.letGo();
    expect(await first).toMatchObject({ status: 'SUCCESS' });
    expect(fake.refunds.filter(({ payment }) => payment.id === outcome.institutionRef)).toHaveLength(2);
  });

  it('may be pending, and may fail', async () => {
    const { one, outcome } = await pay('pm_card_pendingRefund');
    const [good, bad] = [1, 2].map((cent) => refundOf(one.attemptNo, outcome.institutionRef, cent));
    if (good === undefined || bad === undefined) throw new Error('not there');
    const ref = fake.refunds.length;
    expect(await refund(good)).toEqual({ status: 'PENDING', institutionRef: fake.refunds[ref]?.id });
    expect(await refund(bad)).toMatchObject({ status: 'PENDING' });
    const [toSucceed, toFail] = fake.refunds.slice(ref);
    if (toSucceed === undefined || toFail === undefined) throw new Error('not there');
    fake.settleRefund(toSucceed, 'succeeded');
    fake.settleRefund(toFail, 'failed');
    expect(await findRefund({ ...good, institutionRef: toSucceed.id })).toMatchObject({ status: 'SUCCESS' });
    expect(await findRefund(bad)).toEqual({
      status: 'REFUSED',
      reason: 'failed at Stripe (expired_or_canceled_card)',
    });
    toFail.status = 'requires_action';
    expect(await findRefund(bad)).toMatchObject({ status: 'PENDING' });
    toFail.status = 'canceled';
    expect(await findRefund(bad)).toMatchObject({ status: 'REFUSED' });
  });
});

it('an agreement is canceled by detaching, also repeatedly', async () => {
  const agreement = fake.attach('pm_card_visa');
  const cancel = (institutionNo: string) => institution.cancelAgreement(institutionNo, unhurried);
  const canceled = { status: 'CANCELED' };
  const ofAnother = `cus_other/${agreement.split('/')[1]}`;
  for (const number of [ofAnother, 'cus_none/pm_none', 'anything']) expect(await cancel(number)).toEqual(canceled);
  expect(await debit(debitOf(agreement))).toMatchObject({ status: 'SUCCESS' });
  fake.fail('/v1/payment_methods', 'lost-request');
  await expect(cancel(agreement)).rejects.toThrow();
  expect(await Promise.all([cancel(agreement), cancel(agreement)])).toEqual([canceled, canceled]);
  expect(await cancel(agreement)).toEqual(canceled);
  expect(await debit(debitOf(agreement))).toMatchObject({ status: 'DECLINED', decline: 'AGREEMENT_INVALID' });
});

it('a statement covers a day in Asia/Shanghai, only our bookings, in pages', async () => {
  const day = '2026-04-01';
  clock.at = Date.parse(`${day}T00:00:00+08:00`) - 1000;
  const before = await pay();
  clock.at += 1000;
  const { one, outcome } = await pay('pm_card_pendingRefund', { amountCent: 300 });
  const refundNo = newNo('R');
  const failedNo = newNo('R');
  const other = { attemptNo: one.attemptNo, debitRef: outcome.institutionRef, amountCent: 100 };
  const foreign = debitOf(fake.attach('pm_card_visa'));
  const otherBridge = create({ realm: 'other' });
  const theirs = await otherBridge.debit(foreign, unhurried);
  const debitRef = theirs.status === 'SUCCESS' ? theirs.institutionRef : '';
  await otherBridge.refund({ ...other, debitRef, refundNo: newNo('R') }, unhurried);
  await institution.refund({ ...other, refundNo }, unhurried);
  await institution.refund({ ...other, refundNo: failedNo }, unhurried);
  fake.bookElsewhere(2100);
  const paid = [];
  for (let i = 0; i < 25; i += 1) paid.push((await pay()).one.attemptNo);
  const failed = fake.refunds.at(-1);
  if (failed === undefined) throw new Error('not there');

  const first = await institution.statement(day, undefined, unhurried, noBook);
  expect(first.nextCursor).toBeDefined();
  const second = await institution.statement(day, first.nextCursor, unhurried, noBook);
  expect(second.nextCursor).toBeUndefined();
  const lines = [...first.lines, ...second.lines];
  const numbers = lines.map(({ number }) => number);
  expect(numbers.toSorted()).toEqual([one.attemptNo, refundNo, failedNo, ...paid].toSorted());
  expect(numbers).not.toContain(before.one.attemptNo);
  const lineOf = (number: string) => lines.find((line) => line.number === number);
  expect(lineOf(one.attemptNo)).toEqual({
    kind: 'DEBIT',
    number: one.attemptNo,
    amountCent: 300,
    status: 'SUCCESS',
    bookedAt: clock.now(),
    institutionRef: outcome.institutionRef,
  });
  expect(lineOf(refundNo)).toMatchObject({ kind: 'REFUND', amountCent: 100, status: 'PENDING' });

  const yesterday = await institution.statement('2026-03-31', undefined, unhurried, noBook);
  expect(yesterday.lines.map(({ number }) => number)).toEqual([before.one.attemptNo]);
  clock.at += 30 * HOUR_MS;
  fake.settleRefund(failed, 'failed');
  const after = await institution.statement('2026-04-02', undefined, unhurried, noBook);
  expect(after).toMatchObject({ lines: [{ kind: 'REFUND', number: failedNo, status: 'FAIL', bookedAt: clock.now() }] });
  const again = await institution.statement(day, first.nextCursor, unhurried, noBook);
  expect(again.lines.map(({ number }) => number)).not.toContain(failedNo);
  fake.fail('/v1/balance_transactions', 'lost-answer');
  await expect(institution.statement(day, undefined, unhurried, noBook)).rejects.toThrow();
});

describe('a webhook', () => {
  const read = (body: string, headers: Record<string, string>) =>
    institution.readWebhook?.({ headers, body: Buffer.from(body) }, noBook);
  const deliver = (body: string) => read(body, fake.sign(body));
  const eventsSince = async (work: () => Promise<unknown>) => {
    const before = fake.events.length;
    await work();
    return fake.events.slice(before);
  };

  it('reports the current state, whatever the order of events', async () => {
    const one = debitOf(fake.attach('pm_usBankAccount_processing'));
    const events = await eventsSince(async () => {
      await debit(one);
      const [payment] = paymentsOf(one);
      if (payment !== undefined) fake.settle(payment);
    });
    const types = events.map(({ type }) => type);
    expect(types).toEqual(['payment_intent.processing', 'charge.succeeded', 'payment_intent.succeeded']);
    const [payment] = paymentsOf(one);
    const paid = { status: 'SUCCESS', amountCent: 1990, paidAt: clock.now(), institutionRef: payment?.id };
    const told = { told: [{ about: 'debit', attemptNo: one.attemptNo, outcome: paid }] };
    for (const { type, body } of [...events, ...events].toReversed()) {
      expect(await deliver(body), type).toMatchObject(type === 'charge.succeeded' ? { told: [] } : told);
    }
    expect(await deliver(events[2]?.body ?? '')).toMatchObject({ answer: { status: 200 } });
    fake.fail('/v1/payment_intents', 'lost-request');
    await expect(deliver(events[2]?.body ?? '')).rejects.toThrow();
  });

  it('reports declines, refunds and ended agreements', async () => {
    const declined = debitOf(fake.attach('pm_card_visa_chargeDeclinedLostCard'));
    const [failure] = await eventsSince(() => debit(declined));
    expect(await deliver(failure?.body ?? '')).toMatchObject({
      told: [{ about: 'debit', attemptNo: declined.attemptNo, outcome: { decline: 'AGREEMENT_INVALID' } }],
    });
    const { one, outcome } = await pay();
    const refundNo = newNo('R');
    const refund = { refundNo, attemptNo: one.attemptNo, amountCent: 5, debitRef: outcome.institutionRef };
    const refunded = await eventsSince(() => institution.refund(refund, unhurried));
    expect(refunded.map(({ type }) => type)).toEqual(['refund.created', 'charge.refunded']);
    for (const { body } of refunded) {
      expect(await deliver(body)).toMatchObject({
        told: [{ about: 'refund', refundNo, outcome: { status: 'SUCCESS', amountCent: 5 } }],
      });
    }
    const agreement = fake.attach('pm_card_visa');
    const [detached] = await eventsSince(async () => fake.detach(agreement));
    expect(await deliver(detached?.body ?? '')).toMatchObject({
      told: [{ about: 'agreement-ended', institutionNo: agreement }],
    });
    const foreign = debitOf(fake.attach('pm_card_visa'));
    const others = await eventsSince(() => create({ realm: 'other' }).debit(foreign, unhurried));
    for (const { body } of others) expect(await deliver(body)).toMatchObject({ told: [] });
  });

  it('is accepted only with a valid signature over the raw bytes', async () => {
    const [event] = await eventsSince(() => pay());
    const body = event?.body ?? '';
    const old = clock.now() - 301_000;
    expect(await read(body, fake.sign(body))).toBeDefined();
    expect(await read(JSON.stringify(JSON.parse(body)), fake.sign(body))).toBeUndefined();
    expect(await read(body, fake.sign(body, old))).toBeUndefined();
    expect(await read(body, fake.sign(body, clock.now(), 'whsec_other'))).toBeUndefined();
    expect(await read(body, { 'stripe-signature': 'nothing' })).toBeUndefined();
    expect(await read(body, {})).toBeUndefined();
    expect(create({ webhookSecret: undefined }).readWebhook).toBeUndefined();
    const types = ['payment_intent.succeeded', 'charge.refunded', 'refund.created', 'payment_method.detached'];
    const bare = types.flatMap((type) => [{ type }, { type, data: null }, { type, data: { object: { id: 1 } } }]);
    for (const odd of ['hello', '', 'null', '"text"', '[]', '{}', ...bare.map((event) => JSON.stringify(event))]) {
      await expect(deliver(odd), odd).rejects.toThrow(BadMessage);
    }
    expect(await deliver('{"type":"something.new"}')).toMatchObject({ told: [] });
  });
});

it('unsupported settings are refused at the start', () => {
  const settings = { secretKey: 'sk_test_fake' };
  for (const currency of ['jpy', 'KRW', 'kwd', 'isk']) {
    expect(() => createStripeInstitution({ ...settings, currency })).toThrow(
      `STRIPE_CURRENCY: ${currency.toUpperCase()} cannot be used`,
    );
  }
  expect(() => createStripeInstitution({ ...settings, currency: 'yuan' })).toThrow('three letters');
  expect(() => createStripeInstitution({ ...settings, currency: 'zzz' })).toThrow(
    'STRIPE_CURRENCY: ZZZ is not a currency',
  );
  expect(() => createStripeInstitution({ ...settings, apiBase: 'http://stripe.example' })).toThrow('must be https');
  expect(() => createStripeInstitution({ ...settings, apiBase: 'https://stripe.example/v1' })).toThrow('no path');
  expect(() => createStripeInstitution({ ...settings, realm: 'a b' })).toThrow('STRIPE_REALM');
  expect(createStripeInstitution({ ...settings, currency: 'usd' }).repeatableForMs).toBeLessThan(24 * HOUR_MS);
});

it('settings that are missing or wrong are named, and secrets are not quoted', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stripe-'));
  const [key, secret] = [path.join(folder, 'key'), path.join(folder, 'secret')];
  await writeFile(key, 'sk_test_fake\n');
  await writeFile(secret, 'whsec_fake\n');
  const good = {
    STRIPE_SECRET_KEY_FILE: key,
    STRIPE_WEBHOOK_SECRET_FILE: secret,
    STRIPE_RETURN_URL: 'https://a.example',
  };
  const read = { secretKey: 'sk_test_fake', webhookSecret: 'whsec_fake', returnUrl: 'https://a.example' };
  expect(await readStripeSettings(good)).toMatchObject(read);
  const wrong: readonly [Record<string, string>, RegExp][] = [
    [{ STRIPE_SECRET_KEY_FILE: '' }, /^STRIPE_SECRET_KEY_FILE is not set$/],
    [{ STRIPE_SECRET_KEY_FILE: folder }, /^STRIPE_SECRET_KEY_FILE: \S+ cannot be read$/],
    [{ STRIPE_SECRET_KEY_FILE: secret }, /^STRIPE_SECRET_KEY_FILE: (?!.*whsec_fake)/],
    [{ STRIPE_WEBHOOK_SECRET_FILE: key }, /^STRIPE_WEBHOOK_SECRET_FILE: (?!.*sk_test_fake)/],
    [{ STRIPE_RETURN_URL: 'http://a.example' }, /^STRIPE_RETURN_URL must be an https address$/],
    [{ STRIPE_RETURN_URL: 'a.example' }, /^STRIPE_RETURN_URL /],
  ];
  for (const [more, message] of wrong) await expect(readStripeSettings({ ...good, ...more })).rejects.toThrow(message);
  await rm(folder, { recursive: true });
});
