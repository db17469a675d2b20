import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expireAndCompleteDue } from '../../src/engine/jobs/expire-and-complete.js';
import type { DebitOutcome, DebitRequest } from '../../src/gateways/gateway.js';
import { askDebit } from '../../src/subscriptions/steps/payments/send-debit.js';
import { gate } from '../agreements/support.js';
import { declined, success, unknown } from '../renewals/support.js';
import { respelled, sharedRequest, unique } from '../support/demo.js';
import { manualClock } from '../support/service.js';
import { stageOfFile } from './stage-of-file.js';
import { agreementOf, alerts, dailyProduct, institution, paid } from './support.js';

/** Tests the outcomes of a first debit, from its call to its last query. In these tests a period has one attempt. */

const { on, service, channel, sql, found, told } = stageOfFile({ testLimits: { debitDeadlineMs: 50 } });

const START = manualClock().now();
beforeEach(async () => {
  service.clock.set(START);
  await on.askPending();
  await sql('delete from alerts');
  on.institution.reset();
});
afterEach(async () => {
  expect(await sql('select from debit_attempts where try_no <> 1')).toEqual([]);
  const numbers = [...on.institution.debits, ...on.institution.queries].map(({ attemptNo }) => attemptNo);
  for (const number of numbers) expect(number).toMatch(/^\d{12}000101$/);
});

const create = async (options = {}) => {
  const request = sharedRequest(channel);
  const reply = await channel.call('orders/create', request, options);
  expect(reply.code, reply.text).toBe('0');
  return { request, ...reply.data };
};
const benefitsOf = (orderNo: string) => sql('select from benefits where order_no = $1', [orderNo]);
const attemptNoOf = (orderNo: string) => `${orderNo}000101`;

interface StoredAttempt {
  readonly status: string;
  readonly reason: string | null;
  readonly institution_ref: string | null;
  readonly asked: number;
  /** Unix seconds with fractions. */
  readonly ask_at: number | null;
}
async function attemptOf(orderNo: string): Promise<StoredAttempt> {
  const [row] = await sql<StoredAttempt>(
    `select status, reason, institution_ref, asked, extract(epoch from ask_at)::double precision as ask_at
     from debit_attempts where order_no = $1`,
    [orderNo],
  );
  if (!row) throw new Error(`order ${orderNo} has no attempt`);
  return row;
}

const databaseNow = async () => {
  const [row] = await sql<{ now: number }>('select extract(epoch from now())::double precision as now');
  return row?.now ?? Number.NaN;
};
/** Expects that the attempt is queried `seconds` seconds after `work`, by the database's own clock. */
async function expectAskedIn<T>(seconds: number, orderNo: (made: T) => string, work: () => Promise<T>): Promise<T> {
  const before = await databaseNow();
  const made = await work();
  const after = await databaseNow();
  const { ask_at } = await attemptOf(orderNo(made));
  expect(ask_at).toBeGreaterThanOrEqual(before + seconds);
  expect(ask_at).toBeLessThanOrEqual(after + seconds);
  return made;
}

const fails = async (): Promise<never> => {
  throw new Error('the line is dead');
};

describe('the first debit', () => {
  it('success: SUCCESS and ACTIVE, the attempt closed with the institution’s reference, no query scheduled', async () => {
    on.institution.onDebit = async (request) => paid(request, { paidAt: request.startedAt - 5000 });
    const order = await create();
    expect(order).toMatchObject({ orderStatus: 'ACTIVE', totalPaidAmountCent: 1990 });
    expect(order.paymentRecords[0]).toMatchObject({ paymentStatus: 'SUCCESS', paidAt: '2026-01-31 11:59:55' });
    expect(await attemptOf(order.orderNo)).toEqual({
      status: 'SUCCESS',
      reason: null,
      institution_ref: `ref-${attemptNoOf(order.orderNo)}`,
      asked: 0,
      ask_at: null,
    });
    expect(await on.askPending()).toBe(0);
    expect(await benefitsOf(order.orderNo)).toHaveLength(2);
  });

  it('the institution gets the documented fields', async () => {
    const { orderNo, request } = await create();
    expect(on.institution.debits).toEqual([
      {
        appId: 'test_demo',
        origin: { requestId: expect.any(String) },
        attemptNo: attemptNoOf(orderNo),
        institutionNo: request.sharedAgreement.sharedAgreementNo,
        amountCent: 1990,
        orderNo,
        cycleNo: 1,
        externalOrderNo: request.externalOrderNo,
        startedAt: service.clock.now(),
      },
    ] satisfies DebitRequest[]);
  });

  it.each([
    ['retryable', 'BIND_SUCCESS'],
    ['final', 'BIND_SUCCESS'],
    ['agreement-invalid', 'CANCELED'],
  ] as const)('declined, %s: FAIL and TERMINATED, nothing to ask; the agreement is %s', async (decline, status) => {
    on.institution.onDebit = async () => declined(decline);
    const order = await create();
    expect(order).toMatchObject({
      orderStatus: 'TERMINATED',
      totalPaidAmountCent: 0,
      redeemUrl: null,
      nextPayTime: null,
    });
    expect(order.paymentRecords).toEqual([expect.objectContaining({ paymentStatus: 'FAIL', paidAt: null })]);
    expect(await attemptOf(order.orderNo)).toMatchObject({
      status: 'FAIL',
      reason: `because ${decline}`,
      ask_at: null,
    });
    expect(await told(order.orderNo)).toEqual(['FAIL', 'TERMINATED']);
    expect(await benefitsOf(order.orderNo)).toEqual([]);
    // If the institution itself has ended the agreement, the service does not cancel it there.
    expect(await agreementOf(service.fresh.database, order.orderNo)).toMatchObject({ status, asked: false });
    expect(await on.askPending()).toBe(0);
  });

  it.each<[string, (request: DebitRequest) => Promise<DebitOutcome>]>([
    ['pending', async () => ({ kind: 'pending' })],
    ['unknown', async () => unknown],
    ['an error', fails],
    [
      'a synchronous error',
      () => {
        throw new Error('a bug');
      },
    ],
    ['no answer within the deadline', () => new Promise(() => undefined)],
  ])('%s: PROCESSING and INITIALIZING, no event, queried after 10 s', async (_what, outcome) => {
    on.institution.onDebit = outcome;
    const order = await expectAskedIn(10, ({ orderNo }) => orderNo, create);
    expect(order).toMatchObject({
      orderStatus: 'INITIALIZING',
      totalPaidAmountCent: 0,
      redeemUrl: null,
      nextPayTime: null,
    });
    expect(order.paymentRecords).toEqual([expect.objectContaining({ paymentStatus: 'PROCESSING', paidAt: null })]);
    expect(await attemptOf(order.orderNo)).toMatchObject({ status: 'STARTED', asked: 0 });
    expect(await told(order.orderNo)).toEqual([]);
    expect(await benefitsOf(order.orderNo)).toEqual([]);
    expect(await alerts(service.fresh.database)).toEqual([]);
    expect(on.institution.debits).toHaveLength(1);
  });

  it('pending until a time: queried then, or at once if it has passed', async () => {
    const until = (ms: number) => {
      on.institution.onDebit = async () => ({ kind: 'pending', askAt: service.clock.now() + ms });
    };
    until(45_000);
    await expectAskedIn(45, ({ orderNo }) => orderNo, create);
    until(-1000);
    await expectAskedIn(0, ({ orderNo }) => orderNo, create);
  });

  it('success with a wrong amount: PROCESSING, and an alert', async () => {
    on.institution.onDebit = async (request) => paid(request, { amountCent: 1989 });
    const order = await create();
    expect(order).toMatchObject({ orderStatus: 'INITIALIZING', totalPaidAmountCent: 0 });
    expect(await attemptOf(order.orderNo)).toMatchObject({ status: 'STARTED', ask_at: expect.any(Number) });
    expect(await alerts(service.fresh.database)).toEqual([
      { kind: 'debit-wrong-amount', subject: attemptNoOf(order.orderNo), detail: 'requested 1990, debited 1989' },
    ]);
    // The query returns the same wrong amount, so nothing changes until it returns the right amount.
    on.institution.onQuery = async (request) => paid(request, { amountCent: 1989 });
    await on.askPending();
    expect((await found(order.orderNo)).orderStatus).toBe('INITIALIZING');
    on.institution.onQuery = async (request) => paid(request);
    await on.askPending();
    expect((await found(order.orderNo)).orderStatus).toBe('ACTIVE');
  });

  it('an answer after the deadline is ignored; the query finds the outcome', async () => {
    const held = gate();
    on.institution.onDebit = async (request) => {
      await held.stand();
      return paid(request);
    };
    const order = await create();
    expect(order.orderStatus).toBe('INITIALIZING');
    held.open();
    expect((await found(order.orderNo)).orderStatus).toBe('INITIALIZING');
    await on.askPending();
    expect((await found(order.orderNo)).orderStatus).toBe('ACTIVE');
    expect(on.institution.debits).toHaveLength(1);
  });

  it('a resend with the same key gets the same answer without a call', async () => {
    on.institution.onDebit = async () => unknown;
    const request = sharedRequest(channel);
    const idempotencyKey = unique('key');
    const first = await channel.call('orders/create', request, { idempotencyKey });
    await on.askPending();
    const again = await channel.call('orders/create', request, { idempotencyKey });
    expect(again.data).toEqual(first.data);
    expect(again.data.orderStatus).toBe('INITIALIZING');
    expect([on.institution.debits.length, on.institution.queries.length]).toEqual([1, 1]);
  });
});

describe('querying a debit', () => {
  /** Creates an order whose first debit has an unknown outcome. */
  const open = async () => {
    on.institution.onDebit = async () => unknown;
    const order = await create();
    on.institution.reset();
    return order as { orderNo: string; request: ReturnType<typeof sharedRequest> };
  };

  it('success: SUCCESS, ACTIVE, benefits, both events; not queried before its time, nor again', async () => {
    const { orderNo } = await open();
    expect(await on.askDue()).toBe(0);
    expect(on.institution.queries).toEqual([]);
    expect((await attemptOf(orderNo)).asked).toBe(0);
    const paidAt = service.clock.now() + 7000;
    on.institution.onQuery = async (request) => paid(request, { paidAt });
    await on.askPending();
    const order = await found(orderNo);
    expect(order).toMatchObject({ orderStatus: 'ACTIVE', nextPayTime: '2026-02-28 12:00:00' });
    expect(order.paymentRecords[0]).toMatchObject({ paymentStatus: 'SUCCESS', paidAt: '2026-01-31 12:00:07' });
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await benefitsOf(orderNo)).toHaveLength(2);
    expect(await on.askPending()).toBe(0);
    expect([on.institution.debits.length, on.institution.queries.length]).toEqual([0, 1]);
  });

  it.each<[string, DebitOutcome | 'paid', string]>([
    ['success', 'paid', 'ACTIVE'],
    ['declined', declined('final'), 'TERMINATED'],
    ['pending', { kind: 'pending' }, 'INITIALIZING'],
    ['unknown', unknown, 'INITIALIZING'],
  ])('not found: the same attempt is resent, and %s counts', async (_what, outcome, status) => {
    const { orderNo, request } = await open();
    on.institution.onQuery = async () => ({ kind: 'not-found' });
    on.institution.onDebit = async (debit) => (outcome === 'paid' ? paid(debit) : outcome);
    await on.askPending();
    expect(
      on.institution.debits.map(({ attemptNo, institutionNo, amountCent }) => [attemptNo, institutionNo, amountCent]),
    ).toEqual([[attemptNoOf(orderNo), request.sharedAgreement.sharedAgreementNo, 1990]]);
    expect((await found(orderNo)).orderStatus).toBe(status);
    expect(await sql('select from debit_attempts where order_no = $1', [orderNo])).toHaveLength(1);
  });

  it('a query that fails does not block others', async () => {
    const [bad, good] = [await open(), await open()];
    on.institution.onQuery = async (request) => (request.orderNo === bad.orderNo ? fails() : paid(request));
    expect(await on.askPending()).toBe(2);
    expect((await found(bad.orderNo)).orderStatus).toBe('INITIALIZING');
    expect((await found(good.orderNo)).orderStatus).toBe('ACTIVE');
  });

  it('a query without an answer counts as unknown', async () => {
    const silent = institution();
    silent.onQuery = () => new Promise(() => undefined);
    const request = { attemptNo: '100000001000000101', cycleNo: 1, amountCent: 1, startedAt: 0 };
    const asked = { ...request, appId: 'test_demo', orderNo: '100000001000', externalOrderNo: 'x', institutionNo: 'y' };
    expect(await askDebit(silent, asked, 20)).toEqual(unknown);
    expect(silent.debits).toEqual([]);
  });
});

describe('notices from the institution', () => {
  const open = async () => {
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const { orderNo } = await create();
    on.institution.reset();
    return orderNo as string;
  };
  const news = async (orderNo: string, outcome: DebitOutcome) => {
    const reply = await on.notice({ kind: 'debit', attemptNo: attemptNoOf(orderNo), outcome });
    expect(reply.status, reply.text).toBe(200);
    return reply;
  };

  it('success: settled as by a query, and repeated notices change nothing', async () => {
    const orderNo = await open();
    for (const _again of [1, 2, 3]) await news(orderNo, success(attemptNoOf(orderNo), service.clock.now()));
    expect((await found(orderNo)).orderStatus).toBe('ACTIVE');
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await benefitsOf(orderNo)).toHaveLength(2);
    expect(await alerts(service.fresh.database)).toEqual([]);
    expect(await on.askPending()).toBe(0);
  });

  it.each(['pending', 'unknown'] as const)('%s: queried at once, and otherwise unchanged', async (kind) => {
    const orderNo = await open();
    await expectAskedIn(
      0,
      () => orderNo,
      () => news(orderNo, { kind }),
    );
    expect((await found(orderNo)).orderStatus).toBe('INITIALIZING');
    expect(await on.askDue()).toBe(1);
    expect((await found(orderNo)).orderStatus).toBe('ACTIVE');
  });
});

describe('an interrupted creation', () => {
  /**
   * Creates the state that a node leaves if it crashes before it stores the debit's result: the order exists, but the
   * caller got an error. Returns a function that resends the request in another spelling.
   */
  async function cutOff(more: Record<string, unknown> = {}) {
    const request = sharedRequest(channel, more);
    const options = { idempotencyKey: unique('key') };
    on.institution.onDebit = async () => {
      await sql(`alter table idempotency add constraint broken check (state = 'RUNNING') not valid`);
      return unknown;
    };
    expect((await channel.call('orders/create', request, options)).code).toBe('500001');
    await sql('alter table idempotency drop constraint broken');
    return () => channel.call('orders/create', {}, { ...options, raw: respelled(channel, request) });
  }

  it.each<[string, boolean]>([
    ['the institution knows the debit', true],
    ['the institution does not know it', false],
  ])('the resend queries first and debits once: %s', async (_what, knows) => {
    const resend = await cutOff();
    on.institution.onDebit = async (debit) => paid(debit);
    on.institution.onQuery = async (debit) => (knows ? paid(debit) : { kind: 'not-found' });
    const again = await resend();
    expect([again.code, again.data.orderStatus]).toEqual(['0', 'ACTIVE']);
    expect(on.institution.debits).toHaveLength(knows ? 1 : 2);
    expect(new Set(on.institution.debits.map(({ attemptNo }) => attemptNo)).size).toBe(1);
    expect(await told(again.data.orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await benefitsOf(again.data.orderNo)).toHaveLength(2);
  });

  it('settled before the resend: the resend answers without a call', async () => {
    const resend = await cutOff();
    await on.askPending();
    const asked = on.institution.queries.length;
    const again = await resend();
    expect([again.code, again.data.orderStatus]).toEqual(['0', 'ACTIVE']);
    expect([on.institution.queries.length, on.institution.debits.length]).toEqual([asked, 1]);
  });

  describe('of an order with one period, which the engine completes before the resend', () => {
    beforeAll(() => dailyProduct(service, 'ONE_DAY', 1));
    const statusOf = async (orderNo: string) => (await found(orderNo)).orderStatus;

    it('the answer was stored but lost: the resend repeats it', async () => {
      const request = sharedRequest(channel, { productCode: 'ONE_DAY' });
      const idempotencyKey = unique('key');
      const lost = await channel.call('orders/create', request, { idempotencyKey });
      expect(await expireAndCompleteDue(service.fresh.database)).toBe(1);
      const again = await channel.call('orders/create', request, { idempotencyKey });
      expect([again.data.orderStatus, again.headers['idempotency-replayed']]).toEqual(['ACTIVE', 'true']);
      expect(again.data).toEqual(lost.data);
      expect(await statusOf(again.data.orderNo)).toBe('COMPLETED');
    });

    it('no answer was stored: the resend describes the current order', async () => {
      const resend = await cutOff({ productCode: 'ONE_DAY' });
      await on.askPending();
      expect(await expireAndCompleteDue(service.fresh.database)).toBe(1);
      const again = await resend();
      expect([again.code, again.data.orderStatus]).toEqual(['0', 'COMPLETED']);
      expect(again.data).toEqual(await found(again.data.orderNo));
      expect(await told(again.data.orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'COMPLETED']);
    });
  });
});
