import { expect, it } from 'vitest';
import { periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { insertDueOrders } from '../support/due-orders.js';
import { until } from '../support/processes.js';
import { AMOUNT_CENT, renewalWorld } from '../support/renewal-world.js';
import { soakSize } from '../support/soak.js';

const ORDERS = soakSize('BILLED_ORDERS', 600, 4_000);
const KILLS = Math.min(6, Math.ceil(ORDERS / 500));
const CYCLES = 12;
/**
 * The number of due periods of each order, for the first and the second half of the orders. The first half has periods
 * left afterwards; the second half is completed.
 */
const DUE = [6, CYCLES - 1] as const;
const PERIODS = (ORDERS / 2) * (DUE[0] + DUE[1]);

const fresh = ofFile(freshDatabase);

const one = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row> => {
  const [row] = await fresh.database.query<Row>(text, values);
  if (!row) throw new Error('a select of one row has one');
  return row;
};

it(
  `${ORDERS} orders billed by two nodes, one of them killed repeatedly: each period once`,
  async () => {
    const world = await renewalWorld(fresh);
    await world.product('BILLED', CYCLES, []);
    const first = 500_000_000_000;
    for (const [half, daysAgo] of DUE.entries()) {
      const orders = Array.from({ length: ORDERS / 2 }, (_, n) => ({
        orderNo: first + 2 * n + half,
        externalOrderNo: `due-${half}-${n}`,
        agreementId: null,
      }));
      const { channelId } = world;
      await insertDueOrders(fresh.database, {
        channelId,
        productCode: 'BILLED',
        daysAgo,
        paymentChannelCode: null,
        orders,
      });
    }
    const nodes = [await world.node(), await world.node()];
    const begun = performance.now();
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const mark = (PERIODS * kill) / (KILLS + 2);
      await until(`${mark} billed`, async () => (await billed()) >= mark, 120_000);
      // Also ends a connection, because the statement of a killed node would run to its end.
      await breakOff();
      const node = nodes[kill % 2];
      await node?.serves();
      node?.kill();
    }
    await until('nothing due', nothingDue, 120_000);
    const seconds = (performance.now() - begun) / 1000;
    for (const node of nodes) await node.stop();

    // Each period exists exactly once. Each period that the nodes billed has one event and one benefit. Each completed
    // order has its event.
    expect(await one(`select count(*) as n, min(status) as lowest, max(status) as highest from payments`)).toEqual({
      n: PERIODS + ORDERS,
      lowest: 'BILLED',
      highest: 'BILLED',
    });
    const twice = 'select order_no, cycle_no from events where cycle_no is not null group by 1, 2 having count(*) > 1';
    expect(await fresh.database.query(twice)).toEqual([]);
    expect(
      await one(
        `select (select count(*) from events where event_type = 'payment.status.changed') as payments,
           (select count(*) from events where event_type = 'order.status.changed') as orders,
           (select count(*) from benefits) as benefits`,
      ),
    ).toEqual({ payments: PERIODS, orders: ORDERS / 2, benefits: PERIODS });

    // Checks the totals and the next due time of every order.
    const orders = await fresh.database.query<Found>(
      `select order_no as "orderNo", (extract(epoch from created_at) * 1000)::bigint as "createdAt", status,
         cycle_no as "cycleNo", paid_cycles as "paidCycles", paid_amount_cent as "paidCent",
         (extract(epoch from next_due_at) * 1000)::bigint as "nextDueAt"
       from orders`,
    );
    const wrong = orders.filter((order) => JSON.stringify(order) !== JSON.stringify(wanted(order)));
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(orders).toHaveLength(ORDERS);
    const kills = nodes.reduce((sum, node) => sum + node.kills(), 0);
    expect(kills).toBe(KILLS);
    process.stdout.write(`  ${PERIODS} periods of ${ORDERS} orders in ${seconds.toFixed(1)} s, ${kills} kills\n`);
  },
  ORDERS * 20 + 240_000,
);

interface Found {
  readonly orderNo: number;
  readonly createdAt: number;
  readonly status: string;
  readonly cycleNo: number;
  readonly paidCycles: number;
  readonly paidCent: number;
  readonly nextDueAt: number | null;
}

function wanted({ orderNo, createdAt }: Found): Found {
  const cycleNo = (DUE[orderNo % 2] ?? 0) + 1;
  const completed = cycleNo === CYCLES;
  return {
    orderNo,
    createdAt,
    status: completed ? 'COMPLETED' : 'ACTIVE',
    cycleNo,
    paidCycles: cycleNo,
    paidCent: cycleNo * AMOUNT_CENT,
    nextDueAt: completed ? null : periodDueAt(createdAt, { periodType: 'DAY', period: 1 }, cycleNo + 1),
  };
}

const billed = async () => (await one<{ n: number }>('select last_value as n from event_numbers')).n;

async function breakOff(): Promise<void> {
  await fresh.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query like '%insert into payments%' limit 1`,
  );
}

async function nothingDue(): Promise<boolean> {
  const { due } = await one<{ due: boolean }>(
    `select exists (select from orders where next_due_at <= now() and settlement_mode = 'CHANNEL_COLLECT') as due`,
  );
  return !due;
}
