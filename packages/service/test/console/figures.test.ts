import { beforeEach, describe, expect, it } from 'vitest';
import { createFiguresJob } from '../../src/engine/jobs/figures.js';
import { FIGURE_COLUMNS, FIGURE_NAMES, type FigureName, floorToHour, HOUR_MS } from '../../src/figures/figures.js';
import { lockFigures } from '../../src/figures/write-figures-sql.js';
import { unsubscribeOrder } from '../../src/operator/orders/orders.js';
import type { Database, Statement } from '../../src/platform/db/database.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { declined } from '../renewals/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { readStage } from './reads.js';

const on = ofFile(readStage);
beforeEach(async () => {
  on.institution.reset();
  on.bank.reset();
  on.service.clock.set(Date.now());
  await on.sql(`truncate orders, external_orders, payments, debit_attempts, refunds, claims, events, due_events,
    delivery_attempts, hourly_figures, daily_figures, order_counts`);
  await on.sql('delete from job_marks');
  await on.sql('update channels set created_at = now()');
});

/** Returns the figures that are not zero, summed over the hours or days that match `where`. */
async function counted(table: 'hourly_figures' | 'daily_figures' = 'hourly_figures', where = 'true') {
  const sums = FIGURE_NAMES.map((name) => `coalesce(sum(${FIGURE_COLUMNS[name]}), 0)::integer as "${name}"`);
  const [row = {}] = await on.sql<Partial<Record<FigureName, number>>>(
    `select ${sums.join()} from ${table} where ${where}`,
  );
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== 0));
}

/** Makes the next period of an order due, and runs the engine. */
async function renew(orderNo: string): Promise<void> {
  await on.sql(`update orders set next_due_at = now() - interval '1 s' where order_no = $1`, [orderNo]);
  await on.renew();
}

/** Makes an order older by `hours` hours in all records that the figures count, and deletes its events. */
async function moveBack(orderNo: string, hours: number): Promise<void> {
  const by = `interval '1 hour' * ${hours}`;
  await on.sql(`update external_orders set created_at = created_at - ${by} where order_no = $1`, [orderNo]);
  await on.sql(`update debit_attempts set settled_at = settled_at - ${by} where order_no = $1`, [orderNo]);
  await on.sql(`update payments set paid_at = paid_at - ${by} where order_no = $1`, [orderNo]);
  await on.sql('delete from events where order_no = $1', [orderNo]);
}

describe('what is counted', () => {
  it('orders by their start, and renewals of both modes', async () => {
    const [paid, collected] = [await on.paidOrder(), await on.collectedOrder()];
    on.institution.onDebit = async () => declined('final');
    await on.channel.call('orders/create', sharedRequest(on.channel));
    on.institution.reset();
    await on.count();
    const begun = {
      ordersCreated: 3,
      debitsPaid: 1,
      paidCent: 1990,
      billedCent: 1990,
      debitsFailed: 1,
      ordersEnded: 1,
    };
    expect(await counted()).toEqual(begun);
    await renew(paid);
    await renew(collected);
    await on.count();
    expect(await counted()).toEqual({ ...begun, debitsPaid: 2, paidCent: 3980, billedCent: 3980, renewalsDone: 2 });
  });

  it('a renewal that waits for a retry as a failed debit, and one that is given up as a failed renewal', async () => {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => declined('retryable');
    await renew(orderNo);
    await on.count();
    const forNow = { ordersCreated: 1, debitsPaid: 1, paidCent: 1990, debitsFailed: 1 };
    expect(await counted()).toEqual(forNow);
    on.institution.onDebit = async () => declined('final');
    await renew(orderNo);
    await on.count();
    expect(await counted()).toEqual({ ...forNow, debitsFailed: 2, renewalsFailed: 1 });
  });

  it('no debit whose outcome is unknown', async () => {
    on.institution.onDebit = async () => ({ kind: 'unknown' });
    await on.channel.call('orders/create', sharedRequest(on.channel));
    await on.count();
    expect(await counted()).toEqual({ ordersCreated: 1 });
    await on.askPending();
    await on.count();
    expect(await counted()).toEqual({ ordersCreated: 1, debitsPaid: 1, paidCent: 1990 });
  });

  it('successful refunds, without refused ones', async () => {
    const orderNo = await on.paidOrder();
    await on.refund({ orderNo, cycleNo: 1, amountCent: 90 });
    on.bank.onRefund = async () => ({ kind: 'refused', reason: 'no' });
    await expect(on.refund({ orderNo, cycleNo: 1, amountCent: 10 })).rejects.toThrow('refused');
    await on.count();
    expect(await counted()).toMatchObject({ refunds: 1, refundedCent: 90 });
  });

  it('orders that were unsubscribed or completed', async () => {
    await unsubscribeOrder(on.operator, { orderNo: await on.paidOrder() });
    const last = await on.collectedOrder();
    await on.sql('update orders set cycle_no = total_cycles - 1 where order_no = $1', [last]);
    await renew(last);
    await on.count();
    expect(await counted()).toMatchObject({ ordersCreated: 2, ordersEnded: 2, renewalsDone: 1 });
  });

  it('claims, and pushes by outcome', async () => {
    const orderNo = await on.collectedOrder();
    await on.sql(
      `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
       select order_no, 1, 1, channel_id, 'COUPON', 'POOL', 'PENDING', now() from orders where order_no = $1`,
      [orderNo],
    );
    await on.sql(
      `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, latency_ms, recorded_at, is_payment)
       select e.channel_id, e.event_no, now(), 0, k.outcome::delivery_outcome, 0, 5, e.recorded_at, true
       from events e, unnest(array['ACCEPTED', 'REFUSED', 'TIMEOUT']) as k(outcome)
       where e.order_no = $1 and e.event_type = 'payment.status.changed'`,
      [orderNo],
    );
    await on.count();
    expect(await counted()).toMatchObject({ claims: 1, pushesAccepted: 1, pushesFailed: 2 });
  });

  it('everything by channel and hour, and a day as the sum of its hours', async () => {
    const other = await anotherChannel(on.service);
    const old = await on.paidOrder();
    await moveBack(old, 3);
    await on.paidOrder();
    await other.call('orders/create', collectRequest(other));
    await on.count();
    const rows = await on.sql<{ app_id: string; created: number; is_own_hour: boolean }>(
      `select c.app_id, f.orders_created as created, exists (
         select from external_orders e where e.channel_id = f.channel_id
           and e.created_at >= f.hour and e.created_at < f.hour + interval '1 hour') as is_own_hour
       from hourly_figures f join channels c using (channel_id) order by c.app_id, f.hour`,
    );
    const ofOther = { app_id: other.credentials.appId, created: 1, is_own_hour: true };
    const own = { app_id: 'test_demo', created: 1, is_own_hour: true };
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(expect.arrayContaining([ofOther, own, own]));
    expect(await counted('daily_figures')).toEqual(await counted());
  });
});

describe('a turn', () => {
  it('runs once a minute, on any node', async () => {
    const { clock, fresh } = on.service;
    expect(await on.count()).toBeGreaterThan(0);
    const second = createFiguresJob({ database: fresh.database, clock });
    expect(await second()).toBe(0);
    clock.advance(60_000);
    expect(await second()).toBeGreaterThan(0);
  });

  it('is skipped while another node runs it', async () => {
    await on.service.fresh.database.transaction(async (tx) => {
      expect(await lockFigures(tx)).toBe(true);
      expect(await on.count()).toBe(0);
    });
    expect(await counted()).toEqual({});
    expect(await on.count()).toBeGreaterThan(0);
  });

  it('that is interrupted leaves nothing half done, and the next one catches up', async () => {
    await on.paidOrder();
    await on.count();
    const before = await counted();
    await on.paidOrder();
    const { database } = on.service.fresh;
    const breaking: Database = {
      ...database,
      transaction: (work, options) =>
        database.transaction(
          (tx) =>
            work({
              ...tx,
              query: (async (statement: Statement, values: never) => {
                if (statement.text.includes('insert into daily_figures')) throw new Error('the node dies');
                return tx.query(statement, values);
              }) as typeof tx.query,
            }),
          options,
        ),
    };
    on.service.clock.advance(60_000);
    await expect(createFiguresJob({ database: breaking, clock: on.service.clock })()).rejects.toThrow('dies');
    expect(await counted()).toEqual(before);
    await on.count();
    expect(await counted()).toMatchObject({ ordersCreated: 2 });
  });

  it('after an outage of days counts everything since', async () => {
    const orderNo = await on.paidOrder();
    await on.count();
    await on.sql('delete from hourly_figures');
    await moveBack(orderNo, 50);
    await on.sql(`update job_marks set reached_at = now() - interval '52 hours' where job = 'figures'`);
    await on.count();
    expect(await counted('hourly_figures', `hour < now() - interval '49 hours'`)).toMatchObject({ ordersCreated: 1 });
    const [mark] = await on.sql<{ late: boolean }>(
      `select reached_at < now() - interval '1 minute' as late from job_marks where job = 'figures'`,
    );
    expect(mark?.late).toBe(false);
  });

  it('counts late commits in the hour of their event, for a quarter of an hour', async () => {
    const { clock } = on.service;
    const next = floorToHour(clock.now()) + HOUR_MS;
    const createLate = async () => {
      const orderNo = await on.collectedOrder();
      await on.sql('update external_orders set created_at = $2 where order_no = $1', [orderNo, new Date(next - 1000)]);
    };
    const before = `hour = '${new Date(next - HOUR_MS).toISOString()}'`;
    clock.set(next + 300_000);
    await on.count();
    await createLate();
    await on.count();
    expect(await counted('hourly_figures', before)).toMatchObject({ ordersCreated: 1 });
    clock.set(next + 1_200_000);
    await on.count();
    await createLate();
    await on.count();
    expect(await counted('hourly_figures', before)).toMatchObject({ ordersCreated: 1 });
  });

  it('does not change past hours, even if their source rows are deleted', async () => {
    const orderNo = await on.paidOrder();
    await moveBack(orderNo, 20);
    await on.count();
    expect(await counted()).toMatchObject({ ordersCreated: 1 });
    await on.sql('delete from external_orders where order_no = $1', [orderNo]);
    await on.count();
    expect(await counted()).toMatchObject({ ordersCreated: 1 });
  });

  it('counts the last day first, then back to the first channel, at most 13 months', async () => {
    const [recent, old, tooOld] = [await on.paidOrder(), await on.paidOrder(), await on.paidOrder()];
    await moveBack(recent, 5);
    await moveBack(old, 300 * 24);
    await moveBack(tooOld, 500 * 24);
    await on.sql(`update channels set created_at = now() - interval '600 days'`);
    await on.count();
    expect(await counted()).toMatchObject({ ordersCreated: 2, debitsPaid: 2, paidCent: 3980 });
    const [mark] = await on.sql<{ days: number }>(
      `select extract(day from now() - reached_at)::integer as days from job_marks where job = 'figures-since'`,
    );
    expect(mark?.days).toBeGreaterThanOrEqual(395);
    expect(await on.count()).toBe(1);
    expect(await counted()).toMatchObject({ ordersCreated: 2 });
  });
});

it('counts orders by status', async () => {
  await on.collectedOrder();
  const due = await on.collectedOrder();
  await on.sql(`update orders set next_due_at = now() where order_no = $1`, [due]);
  const waiting = await on.paidOrder();
  on.institution.onDebit = async () => declined('retryable');
  await renew(waiting);
  await on.sql(`update orders set next_due_at = now() - interval '1 h' where order_no in ($1, $2)`, [due, waiting]);
  await unsubscribeOrder(on.operator, { orderNo: await on.collectedOrder() });
  await on.count();
  const counts = await on.sql('select active, waiting_for_retry, due_today from order_counts');
  expect(counts).toEqual([{ active: 3, waiting_for_retry: 1, due_today: 2 }]);
});
