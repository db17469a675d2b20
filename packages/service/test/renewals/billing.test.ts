import { beforeEach, expect, it } from 'vitest';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { openDatabase, type Queryable } from '../../src/platform/db/database.js';
import { billLane, lockLane } from '../../src/subscriptions/store/orders/bill-orders-sql.js';
import { START_OF_DUE_ORDERS } from '../../src/subscriptions/store/orders/due-orders-sql.js';
import { startRenewals } from '../../src/subscriptions/store/orders/start-renewals-sql.js';
import { ofFile, stageOfFile } from '../orders/stage-of-file.js';

/** Tests billing (mode B) in batches: a problem with one order does not affect others. */

const { on } = stageOfFile();
const database = ofFile(async () => openDatabase({ url: on.service.fresh.url, pool: 8, name: 'test billing' }));
beforeEach(() => database.query('truncate orders, payments, benefits, events, alerts'));

const FIRST = 500_000_000_001;

/** Creates daily orders with the numbers FIRST and up. They are 25 hours old and have seven periods by default. */
async function orders(count: number, more: { mode?: string; totalCycles?: number } = {}): Promise<void> {
  const { mode = 'CHANNEL_COLLECT', totalCycles = 7 } = more;
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
       paid_amount_cent, latest_payment_status, agreement_id, payment_channel_code)
     select $1::bigint + n, 1, 'order ' || n, 'user ' || n, 'TEST_SPU_DAILY_7', $3, 'ACTIVE', 'DAY', 1, $4, 100, at, at, 1,
       at + interval '1 day', 1, 100, 'BILLED', $1 + n, 'MOCKPAY'
     from generate_series(0, $2::integer - 1) n, (select date_trunc('second', now() - interval '25 hours') as at) t`,
    [FIRST, count, mode, totalCycles],
  );
  await database.query(
    `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, institution_no,
       card_hash, certificate_hash, card_tail, details)
     select $1::bigint + n, 1, 'user ' || n, 'MOCKPAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', '', '', '', '', ''
     from generate_series(0, $2::integer - 1) n on conflict do nothing`,
    [FIRST, count],
  );
  await database.query('analyze orders, agreements');
}

interface State {
  readonly orderNo: number;
  readonly status: string;
  readonly cycleNo: number;
  readonly paidCycles: number;
  readonly paidCent: number;
  readonly periods: number;
  readonly benefits: number;
  readonly told: readonly string[];
}

const states = () =>
  database.query<State>(
    `select order_no as "orderNo", status, cycle_no as "cycleNo", paid_cycles as "paidCycles", paid_amount_cent as "paidCent",
       (select count(*) from payments p where p.order_no = o.order_no) as periods,
       (select count(*) from benefits b where b.order_no = o.order_no) as benefits,
       array(select coalesce(e.data::json ->> 'paymentStatus', e.data::json ->> 'orderStatus') from events e
             where e.order_no = o.order_no order by e.event_no) as told
     from orders o order by order_no`,
  );

const BILLED = {
  status: 'ACTIVE',
  cycleNo: 2,
  paidCycles: 2,
  paidCent: 200,
  periods: 1,
  benefits: 1,
  told: ['BILLED'],
};
const UNTOUCHED = { status: 'ACTIVE', cycleNo: 1, paidCycles: 1, paidCent: 100, periods: 0, benefits: 0, told: [] };

it('several nodes at once bill every order once', async () => {
  await orders(5000);
  const counts = await Promise.all([billDueOrders(database), billDueOrders(database), billDueOrders(database)]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5000);
  const found = await states();
  expect(found).toHaveLength(5000);
  for (const { orderNo: _, ...state } of found) expect(state).toEqual(BILLED);
  expect(await billDueOrders(database)).toBe(0);
});

it.each([
  ["the last periods of many orders: each event comes before its order's completion", 2, 300, BILLED],
  ['orders of one period are completed, and nothing is billed', 1, 3, UNTOUCHED],
])('%s', async (_what, totalCycles, count, expected) => {
  await orders(count, { totalCycles });
  expect(await billDueOrders(database)).toBe(count);
  for (const { orderNo: _, ...state } of await states()) {
    expect(state).toEqual({ ...expected, status: 'COMPLETED', told: [...expected.told, 'COMPLETED'] });
  }
});

it('a locked order is skipped, and billed in the next run', async () => {
  await orders(3);
  await database.transaction(async (tx) => {
    await tx.query('select from orders where order_no = $1 for update', [FIRST + 1]);
    expect(await billDueOrders(database)).toBe(2);
  });
  expect(await states()).toMatchObject([BILLED, UNTOUCHED, BILLED]);
  expect(await billDueOrders(database)).toBe(1);
  expect(await states()).toMatchObject([BILLED, BILLED, BILLED]);
});

it('existing periods of a few orders among many are unchanged, with their orders; the others are billed', async () => {
  await orders(700);
  const wrong = [3, 4, 5, 400, 699].map((n) => FIRST + n);
  await database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent)
     select n, 2, 1, 'CANCELED', now(), 100 from unnest($1::bigint[]) n`,
    [wrong],
  );
  expect(await billDueOrders(database)).toBe(695);
  for (const { orderNo, ...state } of await states()) {
    expect(state).toEqual(wrong.includes(orderNo) ? { ...UNTOUCHED, periods: 1 } : BILLED);
  }
  const periods = await database.query('select distinct status from payments where order_no = any($1)', [wrong]);
  expect(periods).toEqual([{ status: 'CANCELED' }]);
  // Every run finds the broken orders again, but there is only one alert for each.
  expect(await billDueOrders(database)).toBe(0);
  expect(await database.query('select kind, subject, detail, seen from alerts order by subject')).toEqual(
    wrong.map((orderNo) => ({
      kind: 'billing-failed',
      subject: String(orderNo),
      detail: 'the database refuses the period: 23505',
      seen: 1,
    })),
  );
});

it('a lane that another node is billing is skipped', async () => {
  await orders(8);
  await database.transaction(async (tx) => {
    expect(await lockLane(tx, 1)).toBe(true);
    expect(await billDueOrders(database)).toBe(6);
  });
  expect(await billDueOrders(database)).toBe(2);
});

const EVERYTHING = { kind: 'everything', after: START_OF_DUE_ORDERS } as const;
const WAYS: readonly [string, string, (tx: Queryable) => Promise<number>][] = [
  ['billed', 'CHANNEL_COLLECT', async (tx) => (await billLane(tx, 0, START_OF_DUE_ORDERS, 20)).orders],
  ['debited', 'SVC_DEDUCT', async (tx) => (await startRenewals(tx, 'MOCKPAY', EVERYTHING, 20, 18)).renewals.length],
];

it.each(WAYS)('some of many orders are %s without reading the others', async (_, mode, renew) => {
  await orders(5000, { mode });
  await database.transaction(async (tx) => {
    // Uses the generic plan that PostgreSQL keeps for a statement that was run often enough.
    await tx.query('set local plan_cache_mode = force_generic_plan');
    const read = async () => {
      const rows = await tx.query<{ rows: number }>(
        `select sum(seq_tup_read + idx_tup_fetch)::integer as rows from pg_stat_xact_user_tables
         where relname in ('orders', 'agreements')`,
      );
      return rows[0]?.rows ?? 0;
    };
    const before = await read();
    expect(await renew(tx)).toBe(20);
    expect((await read()) - before).toBeLessThanOrEqual(100);
  });
});
