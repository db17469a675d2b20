import { formatTime } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { collectRequest } from '../support/demo.js';
import { whileAddressed } from '../webhooks/outcomes.js';
import { type Answer, readStage } from './reads.js';

const on = ofFile(readStage);
let other: string;
/** 11:30 on the 15th of March 2026 in Asia/Shanghai. */
const NOW = Date.UTC(2026, 2, 15, 3, 30);
const overview = (query: Record<string, string> = {}) => on.ask('/overview', query, 'viewer');

async function put(appId: string, at: string, figures: Record<string, number>): Promise<void> {
  const names = Object.keys(figures);
  for (const [table, column] of [
    ['hourly_figures', 'hour'],
    ['daily_figures', 'day'],
  ]) {
    const start =
      table === 'hourly_figures'
        ? `$2::timestamptz`
        : `date_trunc('day', $2::timestamptz at time zone 'Asia/Shanghai') at time zone 'Asia/Shanghai'`;
    await on.sql(
      `insert into ${table} as t (${column}, channel_id, ${names.join()})
       select ${start}, channel_id, ${Object.values(figures).join()} from channels where app_id = $1
       on conflict (${column}, channel_id) do update set ${names.map((name) => `${name} = t.${name} + excluded.${name}`).join()}`,
      [appId, `${at}+08`],
    );
  }
}

beforeAll(async () => {
  other = (await anotherChannel(on.service)).credentials.appId;
  on.service.clock.set(NOW);
  await put('test_demo', '2026-03-15 11:00', { orders_created: 3, paid_cent: 500, debits_failed: 1 });
  await put(other, '2026-03-15 11:00', { orders_created: 4, paid_cent: 100, billed_cent: 300 });
  await put('test_demo', '2026-03-14 12:00', { orders_created: 1 });
  await put('test_demo', '2026-03-14 11:00', { orders_created: 10 });
  await put('test_demo', '2026-02-28 23:00', { orders_created: 100 });
  await put('test_demo', '2026-03-01 00:00', { orders_created: 1000 });
  await put('test_demo', '2025-04-01 00:00', { orders_created: 10000 });
  await put('test_demo', '2025-03-31 23:00', { orders_created: 100000 });
});

describe('the range', () => {
  it('24h: by hour, with the range before', async () => {
    const { from, to, series, totals, before } = await overview();
    expect([from, to]).toEqual(['2026-03-14 12:00:00', '2026-03-15 12:00:00']);
    expect(series).toHaveLength(24);
    expect(series[0]).toMatchObject({ at: '2026-03-14 12:00:00', ordersCreated: 1 });
    expect(series[1]).toMatchObject({ at: '2026-03-14 13:00:00', ordersCreated: 0, paidCent: 0 });
    expect(series[23]).toMatchObject({ at: '2026-03-15 11:00:00', ordersCreated: 7, paidCent: 600, debitsFailed: 1 });
    expect(totals).toMatchObject({ ordersCreated: 8, paidCent: 600 });
    expect(before).toMatchObject({ ordersCreated: 10, paidCent: 0 });
  });

  it('30d: by day in Asia/Shanghai', async () => {
    const { from, to, series, totals, before } = await overview({ range: '30d' });
    expect([from, to]).toEqual(['2026-02-14 00:00:00', '2026-03-16 00:00:00']);
    expect(series).toHaveLength(30);
    const days = Object.fromEntries(series.map(({ at, ordersCreated }: Answer) => [at.slice(0, 10), ordersCreated]));
    expect(days).toMatchObject({ '2026-02-28': 100, '2026-03-01': 1000, '2026-03-14': 11, '2026-03-15': 7 });
    expect(totals['ordersCreated']).toBe(1118);
    expect(before['ordersCreated']).toBe(0);
  });

  it('12m: by month', async () => {
    const { from, to, series, totals, before } = await overview({ range: '12m' });
    expect([from, to]).toEqual(['2025-04-01 00:00:00', '2026-04-01 00:00:00']);
    expect(series.map(({ at }: Answer) => at.slice(0, 7))).toEqual([
      ...['2025-04', '2025-05', '2025-06', '2025-07', '2025-08', '2025-09', '2025-10', '2025-11', '2025-12'],
      ...['2026-01', '2026-02', '2026-03'],
    ]);
    expect(series.at(-1)).toMatchObject({ ordersCreated: 1018 });
    expect(series.at(-2)).toMatchObject({ ordersCreated: 100 });
    expect(totals['ordersCreated']).toBe(11_118);
    expect(before['ordersCreated']).toBe(100_000);
  });

  it('of one channel', async () => {
    const { totals, channels } = await overview({ appId: other });
    expect(totals).toMatchObject({ ordersCreated: 4, paidCent: 100 });
    expect(channels.map(({ appId }: Answer) => appId)).toEqual([other]);
    await expect(overview({ appId: 'nobody' })).rejects.toThrow('there is no channel "nobody"');
  });

  it('channels by volume, largest first: collected and billed, as in the totals', async () => {
    const { channels, totals } = await overview();
    expect(channels).toEqual([
      { appId: 'test_demo', name: expect.any(String), ordersCreated: 4, volumeCent: 500, debitsFailed: 1 },
      { appId: other, name: 'Another channel', ordersCreated: 4, volumeCent: 400, debitsFailed: 0 },
    ]);
    expect(totals).toMatchObject({ paidCent: 600, billedCent: 300 });
    await put(other, '2026-03-15 11:00', { billed_cent: 101 });
    expect((await overview()).channels.map(({ appId }: Answer) => appId)).toEqual([other, 'test_demo']);
  });
});

describe('the open tasks', () => {
  it('are counted for the menu: open alerts, approvals, failed payments as last counted, open differences', async () => {
    const { database } = on.service.fresh;
    const waiting = () => on.ask<Record<string, number>>('/waiting', {}, 'viewer');
    expect(await waiting()).toEqual({ alerts: 0, approvals: 0, failedPayments: 0, differences: 0, mentions: 0 });
    await on.sql(`insert into order_counts (channel_id, active, waiting_for_retry, due_today)
      select channel_id, 9, 4, 0 from channels`);
    await raiseAlert(database, 'pool-low', 'OPEN', 'few');
    await raiseAlert(database, 'pool-low', 'SEEN', 'few');
    await on.sql(`update alerts set acknowledged_at = now() where subject = 'SEEN'`);
    await on.sql(`insert into approvals (kind, subject, request_key, amount_cent, note, requested_by, status)
      values ('REFUND', '1-1', 'a', 1, 'x', 'ann', 'WAITING'), ('REFUND', '1-1', 'b', 1, 'x', 'ann', 'DECLINED')`);
    await on.sql(`insert into reconciliation_differences
        (payment_channel_code, day, kind, line_kind, number, closed_at)
      values ('X', '2026-01-01', 'MISSING_HERE', 'debit', '1', null), ('X', '2026-01-01', 'MISSING_HERE', 'debit', '2', now())`);
    expect(await waiting()).toEqual({ alerts: 1, approvals: 1, failedPayments: 8, differences: 1, mentions: 0 });
    await on.sql('truncate order_counts, alerts, approvals, reconciliation_differences');
  });
});

describe('the current state', () => {
  it('orders, events, alerts and approvals', async () => {
    const { clock, fresh } = on.service;
    clock.set(Date.now());
    const orderNo = await whileAddressed(fresh.database, on.channel, async () => {
      await on.channel.call('orders/create', collectRequest(on.channel));
      return on.paidOrder();
    });
    await on.sql(
      `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
       select channel_id, event_no, 0, order_no, is_payment, recorded_at, 9, 'GIVE_UP' from due_events where order_no = $1`,
      [orderNo],
    );
    await on.sql('delete from due_events where order_no = $1', [orderNo]);
    await raiseAlert(fresh.database, 'pool-empty', 'COUPON', 'nothing left');
    await raiseAlert(fresh.database, 'pool-empty', 'OLD', 'nothing left');
    await on.sql(`update alerts set resolved_at = now() where subject = 'OLD'`);
    await on.sql(
      `insert into approvals (kind, subject, request_key, amount_cent, note, requested_by)
       values ('REFUND', $1 || '-1', 'k', 100, 'n', 'ann')`,
      [orderNo],
    );
    await on.sql(
      `update debit_attempts set ask_at = now(), started_at = '2026-01-31 12:00:00+08' where order_no = $1`,
      [orderNo],
    );
    await on.count();
    const answer = await overview();
    const [oldest] = await on.sql<{ at: string }>(
      `select left((min(recorded_at) at time zone 'Asia/Shanghai')::text, 19) as at from due_events`,
    );
    expect(answer.now).toMatchObject({
      activeOrders: 2,
      unsettledOrders: 1,
      oldestUnsettledAt: '2026-01-31 12:00:00',
      eventsWaiting: 2,
      eventsGivenUp: 2,
      oldestEventAt: oldest?.at,
      openAlerts: 1,
      approvalsWaiting: 1,
    });
    expect(answer.alerts).toEqual([
      {
        kind: 'pool-empty',
        severity: 'critical',
        subject: 'COUPON',
        detail: 'nothing left',
        detailSaid: null,
        lastSeenAt: expect.any(String),
      },
    ]);
    expect(answer.asOf).toBe(formatTime(clock.now()));
    expect(answer.now['ordersCountedAt']).toMatch(/^\d{4}-/);
    expect((await overview({ appId: other })).now).toMatchObject({
      ...{ activeOrders: 0, unsettledOrders: 0, oldestUnsettledAt: null },
      ...{ eventsWaiting: 0, openAlerts: 1 },
    });
  });
});
