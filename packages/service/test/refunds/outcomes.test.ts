import { formatTime } from '@perennial/wire';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { askAboutPendingRefunds } from '../../src/engine/recovery/refunds.js';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { BusyError } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { Unavailable } from '../../src/platform/db/failures.js';
import { withinDeadline } from '../../src/subscriptions/domain/payments/deadline.js';
import { gate } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { alerts, toldAbout } from '../orders/support.js';
import { periodNo, refundStage } from './support.js';

const on = ofFile(refundStage);
beforeEach(async () => {
  on.bank.reset();
  await on.service.fresh.database.query('truncate refunds, alerts');
});

const refundNoOf = (orderNo: string, seq = '01') => `R${periodNo(orderNo)}${seq}`;
const statusOf = async (orderNo: string) => (await on.queryPeriod(orderNo))['paymentStatus'];
const told = async (orderNo: string) => (await toldAbout(on.service.fresh.database, orderNo)).slice(2);
const alertKinds = async () => (await alerts(on.service.fresh.database)).map(({ kind, subject }) => [kind, subject]);

/**
 * Returns the seconds until the next query of the refund, by the database's clock. Returns null if the refund is
 * settled.
 */
async function askedIn(orderNo: string): Promise<number | null> {
  const [row] = await on.service.fresh.database.query<{ seconds: number | null }>(
    `select round(extract(epoch from ask_at - now()))::integer as seconds from refunds where order_no = $1`,
    [orderNo],
  );
  return row?.seconds ?? null;
}

describe('the institution refuses', () => {
  it('at once: the operator gets the reason, the period is unchanged, an alert, and the amount is free again', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'refused', reason: 'the card is closed' });
    await expect(on.refund({ orderNo, cycleNo: 1, key: 'k' })).rejects.toThrow(
      `the institution refused refund ${refundNoOf(orderNo)}: the card is closed`,
    );
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 0 });
    expect(await told(orderNo)).toEqual([]);
    expect(await alerts(on.service.fresh.database)).toEqual([
      { kind: 'refund-refused', subject: refundNoOf(orderNo), detail: 'the card is closed' },
    ]);
    // The key belongs to the refused refund. A different key makes a new refund with its own refund number.
    await expect(on.refund({ orderNo, cycleNo: 1, key: 'k' })).rejects.toThrow(/refused/);
    on.bank.reset();
    expect(await on.refund({ orderNo, cycleNo: 1, key: 'k2' })).toMatchObject({ refundNo: refundNoOf(orderNo, '02') });
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
  });

  it('later: the job finds it', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({ status: 'STARTED' });
    on.bank.onQuery = async () => ({ kind: 'refused', reason: '' });
    expect(await on.askAll()).toBe(1);
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(await alertKinds()).toEqual([['refund-refused', refundNoOf(orderNo)]]);
    expect(await on.askAll()).toBe(0);
  });
});

describe('the outcome is unknown', () => {
  it.each([
    ['pending', async () => ({ kind: 'pending' }) as const],
    ['unknown', async () => ({ kind: 'unknown' }) as const],
    ['a call that fails', () => Promise.reject(new Error('socket hang up'))],
  ])('%s: it stays open, is queried after 18 s, and settled when known', async (_name, onRefund) => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = onRefund;
    on.bank.onQuery = async () => ({ kind: 'pending' });
    expect(await on.refund({ orderNo, cycleNo: 1, amountCent: 700 })).toMatchObject({
      status: 'STARTED',
      refundedAt: null,
      payment: { paymentStatus: 'SUCCESS', refundAmountCent: 0 },
    });
    expect(await askedIn(orderNo)).toBe(18);
    expect(await on.askDueRefunds()).toBe(0);
    expect(await told(orderNo)).toEqual([]);

    on.service.clock.advance(60_000);
    const refundedAt = on.service.clock.now();
    on.bank.onQuery = async () => ({ kind: 'success', refundedAt, amountCent: 700 });
    expect(await on.askAll()).toBe(1);
    expect(on.bank.asked).toHaveLength(1);
    expect(await on.queryPeriod(orderNo)).toMatchObject({
      paymentStatus: 'REFUND_PART',
      refundAmountCent: 700,
      refundTime: formatTime(refundedAt),
    });
    expect(await told(orderNo)).toEqual(['REFUND_PART']);
    expect(await askedIn(orderNo)).toBeNull();
  });

  it('a number that the institution does not know is sent again', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.refund({ orderNo, cycleNo: 1 });
    on.bank.onRefund = async (request) => on.bank.book(request);
    expect(await on.askAll()).toBe(1);
    expect(new Set(on.bank.asked.map(({ refundNo }) => refundNo))).toEqual(new Set([refundNoOf(orderNo)]));
    expect(on.bank.asked).toHaveLength(2);
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
  });

  it('is queried after 30 s, 1 min, 5 min, 15 min and then hourly; an alert after a day', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    on.bank.onQuery = async () => ({ kind: 'unknown' });
    await on.refund({ orderNo, cycleNo: 1 });
    for (const seconds of [30, 60, 300, 900, 3600, 3600]) {
      await on.askAll();
      expect(await askedIn(orderNo)).toBe(seconds);
    }
    expect(await alertKinds()).toEqual([]);
    await on.service.fresh.database.query(`update refunds set started_at = started_at - interval '24 hours 1 second'`);
    await on.askAll();
    expect(await alertKinds()).toEqual([['refund-unknown-for-a-day', refundNoOf(orderNo)]]);
    expect(await askedIn(orderNo)).toBe(3600);
  });

  it('one node at a time leases it, for 30 s', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    await on.refund({ orderNo, cycleNo: 1 });
    let during: readonly unknown[] = [];
    on.bank.onQuery = async () => {
      during = [await on.askDueRefunds(), await askedIn(orderNo)];
      return { kind: 'pending' };
    };
    await on.service.fresh.database.query('update refunds set ask_at = now()');
    const asked = await Promise.all(Array.from({ length: 16 }, () => on.askDueRefunds()));
    expect(asked.toSorted().slice(-2)).toEqual([0, 1]);
    expect(on.bank.queries).toHaveLength(1);
    expect(during).toEqual([0, 30]);
  });
});

describe('the institution is wrong', () => {
  it('a success with a wrong amount does not count; its alert is raised again only if the amount changes', async () => {
    const { operator } = on.service;
    const orderNo = await on.paidOrder();
    const open = async () => (await listAlerts(operator)).map(({ detail, seen }) => [detail, seen]);
    const ask = async (amountCent: number) => {
      on.bank.onQuery = async () => ({ kind: 'success', refundedAt: 1, amountCent });
      expect(await on.askAll()).toBe(1);
    };
    on.bank.onRefund = async ({ amountCent }) => ({ kind: 'success', refundedAt: 1, amountCent: amountCent + 1 });
    expect(await on.refund({ orderNo, cycleNo: 1, amountCent: 500 })).toMatchObject({ status: 'STARTED' });
    await ask(501);
    expect(await askedIn(orderNo)).toBe(30);
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(await open()).toEqual([['requested 500, refunded 501', 1]]);
    await acknowledgeAlert(operator, { kind: 'refund-wrong-amount', subject: refundNoOf(orderNo) });
    for (const _again of [1, 2]) await ask(501);
    expect(await open()).toEqual([]);
    await ask(502);
    expect(await open()).toEqual([['requested 500, refunded 502', 2]]);
  });

  it('a contradiction changes nothing and raises an alert', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async (request) => {
      // Before the institution answers the refund request, the job queries the refund. The query is answered with a
      // refusal.
      on.bank.onQuery = async () => ({ kind: 'refused', reason: 'no' });
      await on.askAll();
      return on.bank.book(request);
    };
    await expect(on.refund({ orderNo, cycleNo: 1 })).rejects.toThrow(/refused/);
    expect(await statusOf(orderNo)).toBe('SUCCESS');
    expect(await alertKinds()).toEqual([
      ['refund-contradiction', refundNoOf(orderNo)],
      ['refund-refused', refundNoOf(orderNo)],
    ]);
  });

  it('reported twice, by the job and by the call: settled once', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async (request) => {
      on.bank.book(request);
      await on.askAll();
      return on.bank.book(request);
    };
    expect(await on.refund({ orderNo, cycleNo: 1, amountCent: 700 })).toMatchObject({
      status: 'SUCCESS',
      payment: { refundAmountCent: 700 },
    });
    expect(await told(orderNo)).toEqual(['REFUND_PART']);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 700 });
    expect(await alertKinds()).toEqual([]);
  });

  it('the database is lost before the result is stored: reported, and finished by the job', async () => {
    const orderNo = await on.paidOrder();
    const { database } = on.service.fresh;
    let transactions = 0;
    const failing: typeof database.transaction = (work) => {
      transactions += 1;
      return transactions === 1 ? database.transaction(work) : Promise.reject(new Error('away'));
    };
    const operator = { ...on.operator, database: { query: database.query, transaction: failing } };
    await expect(refundPayment(operator, { orderNo, cycleNo: 1 })).rejects.toThrow(
      `refund ${refundNoOf(orderNo)} was sent, but its result could not be stored`,
    );
    await on.askAll();
    expect(await statusOf(orderNo)).toBe('REFUND_FULL');
    expect(on.bank.booked.size).toBe(1);
  });

  it('two refunds that are settled in reverse order: the later time is kept', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    const first = await on.refund({ orderNo, cycleNo: 1, amountCent: 1, key: 'first' });
    const second = await on.refund({ orderNo, cycleNo: 1, amountCent: 2, key: 'second' });
    const at = on.service.clock.now();
    on.bank.onQuery = async ({ refundNo }) =>
      refundNo === first.refundNo
        ? { kind: 'success', refundedAt: at, amountCent: 1 }
        : { kind: 'success', refundedAt: at + 5_000, amountCent: 2 };
    await on.refund({ orderNo, cycleNo: 1, key: 'second' });
    await on.refund({ orderNo, cycleNo: 1, key: 'first' });
    expect(second.refundNo).not.toBe(first.refundNo);
    expect(await on.queryPeriod(orderNo)).toMatchObject({ refundTime: formatTime(at + 5_000), refundAmountCent: 3 });
  });
});

describe('the timeout of a call', () => {
  it('makes the outcome unknown if the call never answers or fails', async () => {
    expect(await withinDeadline(() => new Promise<never>(() => undefined), 5)).toEqual({ kind: 'unknown' });
    expect(await withinDeadline(async () => Promise.reject(new Error('x')), 60_000)).toEqual({ kind: 'unknown' });
    expect(await withinDeadline(async () => ({ kind: 'pending' }), 60_000)).toEqual({ kind: 'pending' });
  });
});

it('refunds that hang at one institution do not block those of another', async () => {
  const { database } = on.service.fresh;
  const usually = on.institution.queryRefund;
  on.bank.onRefund = async () => ({ kind: 'unknown' });
  const orderNo = await on.paidOrder();
  const other = await on.paidOrder();
  for (let n = 0; n < 65; n += 1) await on.refund({ orderNo, cycleNo: 1, amountCent: 1 });
  await on.refund({ orderNo: other, cycleNo: 1, amountCent: 100 });
  await database.query(`update refunds set payment_channel_code = 'OTHER' where order_no = $1`, [other]);
  await database.query('update refunds set ask_at = now()');

  // Queries to the first institution hang until the test calls `answer`.
  let hanging = 0;
  const { open: answer, passed: silence } = gate();
  on.institution.queryRefund = async (request) => {
    if (!request.refundNo.startsWith(`R${orderNo}`)) return on.bank.onQuery(request);
    hanging += 1;
    await silence;
    hanging -= 1;
    return { kind: 'unknown' };
  };
  on.bank.onRefund = async (request) => on.bank.book(request);
  const deps = {
    database,
    gateways: on.operator.gateways,
    clock: on.service.clock,
    log: pino({ level: 'silent' }),
  };
  const [usual] = await database.query<{ code: string }>(
    'select payment_channel_code as code from refunds where order_no = $1 limit 1',
    [orderNo],
  );
  let isStopping = false;
  const first = askAboutPendingRefunds({ ...deps, stopping: () => isStopping }, usual?.code);
  expect(await askAboutPendingRefunds(deps, 'OTHER')).toBe(1);
  expect((await on.queryPeriod(other)).refundAmountCent).toBe(100);
  expect(hanging).toBe(64);

  // After the job was told to stop, it leases no more refunds.
  isStopping = true;
  answer();
  expect(await first).toBe(64);
  on.institution.queryRefund = usually;
});

const AT_ONCE = 100;

function atOnce<T>(call: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: AT_ONCE }, (_, n) => untilNotBusy(() => call(n))));
}

/** Repeats a call that waited too long for the order's lock or for a connection, as on a slow machine. */
async function untilNotBusy<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof BusyError || error instanceof Unavailable)) throw error;
    }
  }
}

const booked = () => [...on.bank.booked.values()].reduce((sum, { amountCent }) => sum + amountCent, 0);
const refundRows = (orderNo: string) =>
  on.service.fresh.database.query<{ status: string; amount_cent: number }>(
    'select status, amount_cent from refunds where order_no = $1',
    [orderNo],
  );

describe(`${AT_ONCE} refunds of one period at once`, () => {
  it('with one key: one refund, and the same answer for all', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce(() => on.refund({ orderNo, cycleNo: 1, amountCent: 500, key: 'one' }));
    const numbers = results.map((one) => (one.status === 'fulfilled' ? one.value.refundNo : String(one.reason)));
    expect(new Set(numbers).size).toBe(1);
    expect(results.every((one) => one.status === 'fulfilled' && one.value.status === 'SUCCESS')).toBe(true);
    expect(await refundRows(orderNo)).toEqual([{ status: 'SUCCESS', amount_cent: 500 }]);
    expect(booked()).toBe(500);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 500 });
    expect(await toldAbout(on.service.fresh.database, orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'REFUND_PART']);
    expect(await listAudit(on.operator, { subject: orderNo })).toHaveLength(1);
    expect(await alerts(on.service.fresh.database)).toEqual([]);
  });

  it('with different keys: never more than was paid, and every accepted refund is paid out', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 100, key: `key-${n}` }));
    const done = results.filter((one) => one.status === 'fulfilled');
    expect(done).toHaveLength(19);
    for (const one of results) {
      if (one.status === 'rejected') expect(String(one.reason)).toMatch(/0\.90 CNY left to refund/);
    }
    expect(booked()).toBe(1900);
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 1900 });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({ amountCent: 90 });
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
  });

  it('without keys, each for the whole rest: one succeeds', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce(() => on.refund({ orderNo, cycleNo: 1 }));
    expect(results.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    expect(booked()).toBe(1990);
  });

  it('while the institution does not answer and the job queries: each amount once', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async (request) => {
      on.bank.book(request);
      return { kind: 'unknown' };
    };
    const [results] = await Promise.all([
      atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 199, key: `key-${n % 20}` })),
      ...Array.from({ length: 5 }, () => on.askAll()),
    ]);
    await on.askAll();
    const numbers = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value.refundNo] : []));
    expect(new Set(numbers).size).toBe(10);
    expect(booked()).toBe(1990);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
    const told = await toldAbout(on.service.fresh.database, orderNo);
    expect(told.slice(2)).toEqual([...Array.from({ length: 9 }, () => 'REFUND_PART'), 'REFUND_FULL']);
  });

  it('with a concurrent unsubscription and renewal: nothing is lost', async () => {
    const orderNo = await on.paidOrder();
    await Promise.all([
      atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 30, key: `key-${n}` })),
      untilNotBusy(on.renew),
      on.channel.call('orders/unsubscribe', { orderNo }),
    ]);
    // Repeats everything, because a slow machine may have refused some of it. A repeated key makes no second refund.
    await on.channel.call('orders/unsubscribe', { orderNo });
    for (let n = 0; n < 100; n += 1)
      await on.refund({ orderNo, cycleNo: 1, amountCent: 30, key: `key-${n}` }).catch(() => undefined);
    const order = await on.query(orderNo);
    expect(order).toMatchObject({ orderStatus: 'UNSUBSCRIBED', totalRefundAmountCent: 1980 });
    expect([1990, 3980]).toContain(order['totalPaidAmountCent']);
  });
});
