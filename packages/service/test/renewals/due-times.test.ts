import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { type Cadence, periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { created, type EngineNode, engineNode } from './support.js';

/**
 * Due times are computed twice: in SQL for batches of orders, and in TypeScript for one order. These tests check that
 * both computations agree for every anchor and cadence, through real billing and real debits. Both must also agree in
 * any session time zone, here one that is behind UTC and has summer time.
 */
const ELSEWHERE = { TimeZone: 'America/New_York' };

const { on } = stageOfFile();
let node: EngineNode;
beforeAll(() => {
  const options = { url: on.service.fresh.url, pool: 8, name: 'test engine', settings: ELSEWHERE };
  node = engineNode(on, { database: openDatabase(options) });
});
afterAll(() => node.close());

interface Sample extends Cadence {
  readonly anchor: number;
  readonly totalCycles: number;
}

/**
 * Limits of the creation times: after the last summer time in Asia/Shanghai, and early enough that all periods are due.
 */
const ANCHORS = { min: new Date('1992-01-01T00:00:00Z'), max: new Date('2016-12-31T00:00:00Z'), noInvalidDate: true };
const anchor = fc.oneof(
  fc.date(ANCHORS).map((date) => date.getTime()),
  // The first and last moments of the last day of a month in Asia/Shanghai.
  fc
    .tuple(
      fc.integer({ min: 1992, max: 2015 }),
      fc.integer({ min: 0, max: 11 }),
      fc.constantFrom(0, 1, 999, 86_399_999),
    )
    .map(([year, month, ms]) => Date.UTC(year, month + 1, 0) - 8 * 3_600_000 + ms),
);
const sample = fc.record({
  anchor,
  periodType: fc.constantFrom('DAY', 'MONTH'),
  period: fc.integer({ min: 1, max: 31 }),
  totalCycles: fc.integer({ min: 2, max: 4 }),
});

async function insert(samples: readonly Sample[], mode: 'CHANNEL_COLLECT' | 'SVC_DEDUCT', like: string): Promise<void> {
  const { database } = node.deps;
  await database.query('delete from orders where order_no <> $1', [like]);
  await database.query('update orders set next_due_at = null where order_no = $1', [like]);
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
       paid_amount_cent, latest_payment_status, agreement_id, payment_channel_code)
     select nextval('order_numbers') + s.n, o.channel_id, 'sample', o.channel_user_id, o.product_code, $2, 'ACTIVE',
       s."periodType", s.period, s."totalCycles", 1, s.at, s.at, 1, s.at, 1, 1, 'SUCCESS', o.agreement_id, 'MOCKPAY'
     from orders o, (select *, row_number() over () as n, to_timestamp(anchor / 1000.0) as at
       from json_to_recordset($3::json) as t(anchor bigint, "periodType" text, period integer, "totalCycles" integer)) s
     where o.order_no = $1`,
    [like, mode, JSON.stringify(samples)],
  );
}

interface Found extends Sample {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly nextDueAt: number | null;
  /** The due time of the last started period. */
  readonly expectAt: number;
}

const found = (like: string) =>
  node.deps.database.query<Found>(
    `select o.order_no as "orderNo", round(extract(epoch from o.created_at) * 1000)::bigint as anchor,
       o.period_type as "periodType", o.period, o.total_cycles as "totalCycles", o.cycle_no as "cycleNo",
       round(extract(epoch from o.next_due_at) * 1000)::bigint as "nextDueAt",
       round(extract(epoch from p.expect_at) * 1000)::bigint as "expectAt"
     from orders o join payments p using (order_no, cycle_no) where o.order_no <> $1`,
    [like],
  );

it.each<[string, 'CHANNEL_COLLECT' | 'SVC_DEDUCT', () => Promise<unknown>]>([
  ['billed', 'CHANNEL_COLLECT', () => billDueOrders(node.deps.database)],
  ['debited', 'SVC_DEDUCT', () => node.renewOnce()],
])('%s: SQL and TypeScript agree, period by period', async (_what, mode, turn) => {
  const like = await created(on);
  await fc.assert(
    fc.asyncProperty(fc.array(sample, { minLength: 20, maxLength: 60 }), async (samples) => {
      await insert(samples, mode, like);
      for (let cycleNo = 2; cycleNo <= 4; cycleNo += 1) {
        await turn();
        const orders = await found(like);
        expect(orders).toEqual(orders.map((order) => ({ ...order, ...reckoned(order, cycleNo) })));
        expect(orders).toHaveLength(samples.length);
      }
    }),
    { numRuns: 8 },
  );
});

/** Returns the expected state of an order whose periods up to number `upTo` were started. */
function reckoned(order: Sample, upTo: number): Pick<Found, 'cycleNo' | 'expectAt' | 'nextDueAt'> {
  const cycleNo = Math.min(upTo, order.totalCycles);
  return {
    cycleNo,
    expectAt: periodDueAt(order.anchor, order, cycleNo),
    nextDueAt: cycleNo === order.totalCycles ? null : periodDueAt(order.anchor, order, cycleNo + 1),
  };
}
