import { pino } from 'pino';
import { Registry } from 'prom-client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { raiseAlert, resolveAlert } from '../../src/alerts/alerts-sql.js';
import { createBusinessReader } from '../../src/engine/business-reader.js';
import { createBusinessMetrics } from '../../src/engine/metrics/business-metrics.js';
import type { ReadingBounds } from '../../src/engine/metrics/readings-sql.js';
import { recordOtherBackup } from '../../src/operator/copies/backups.js';
import { pauseEvents } from '../../src/operator/events/events.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createClockWatch } from '../../src/platform/installation/clock-watch.js';
import { ofFile } from '../orders/stage-of-file.js';
import { refundStage } from '../refunds/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { type Metric, readMetrics, sampleValue } from '../support/scrape.js';

const on = ofFile(refundStage);
beforeAll(async () => {
  const { appId } = on.channel.credentials;
  await setCallback(on.operator, { appId, url: 'https://shop.example/events' });
});
beforeEach(async () => {
  on.institution.reset();
  on.bank.reset();
  const { database } = on.service.fresh;
  await database.query('delete from due_events');
  await database.query('update orders set next_due_at = null');
  await database.query('update debit_attempts set ask_at = null');
});

const sql = (text: string, values: unknown[] = []) => on.service.fresh.database.query(text, values);

/** Returns a function that reads the database one time, as a node does, and returns the values of a scrape. */
function reader(bounds: Partial<ReadingBounds> = {}) {
  const registry = new Registry();
  const metrics = createBusinessMetrics(registry, '1.2.3');
  const { clock, fresh } = on.service;
  const watch = createClockWatch({ database: fresh.database, clock, log: pino({ level: 'silent' }) });
  const read = createBusinessReader({ database: fresh.database, clock, metrics, clockWatch: watch, bounds });
  return async (): Promise<Map<string, Metric>> => {
    await watch.compare();
    await read();
    const text = await registry.metrics();
    metrics.stop();
    return readMetrics(text);
  };
}
const readOnce = (bounds?: Partial<ReadingBounds>) => reader(bounds)();

describe('events', () => {
  const backlog = async () => sampleValue(await readOnce(), 'perennial_webhook_backlog');

  it('counts due events and the age of the oldest, but not events that wait for a retry', async () => {
    await on.channel.call('orders/create', collectRequest(on.channel));
    await sql(`update due_events set next_at = now() - interval '90 s'`);
    const due = await readOnce();
    expect(sampleValue(due, 'perennial_webhook_backlog')).toBe(2);
    expect(sampleValue(due, 'perennial_webhook_oldest_seconds')).toBeGreaterThanOrEqual(90);
    expect(sampleValue(due, 'perennial_webhook_oldest_seconds')).toBeLessThan(120);
    await sql(`update due_events set next_at = now() + interval '1 h'`);
    const later = await readOnce();
    expect(sampleValue(later, 'perennial_webhook_backlog')).toBe(0);
    expect(sampleValue(later, 'perennial_webhook_oldest_seconds')).toBe(0);
  });

  it('paused events are not late', async () => {
    await on.channel.call('orders/create', collectRequest(on.channel));
    const { appId } = on.channel.credentials;
    await pauseEvents(on.operator, { appId, eventType: 'payment.status.changed' });
    expect(await backlog()).toBe(1);
    await pauseEvents(on.operator, { appId });
    expect(await backlog()).toBe(0);
    await sql('delete from delivery_pauses');
    expect(await backlog()).toBe(2);
  });
});

describe('renewals', () => {
  it('counts both modes and the age of the oldest', async () => {
    const collected = await on.collectedOrder();
    const deducted = await on.paidOrder();
    await sql(`update orders set next_due_at = now() - interval '20 min' where order_no = $1`, [collected]);
    await sql(`update orders set next_due_at = now() - interval '10 min' where order_no = $1`, [deducted]);
    const due = await readOnce();
    expect(sampleValue(due, 'perennial_renewals_due')).toBe(2);
    expect(sampleValue(due, 'perennial_renewals_oldest_seconds')).toBeGreaterThanOrEqual(1200);
    expect(sampleValue(due, 'perennial_renewals_oldest_seconds')).toBeLessThan(1260);
  });

  it('those of a payment channel outside its debit hours are not late', async () => {
    const deducted = await on.paidOrder();
    await sql(`update orders set next_due_at = now() - interval '10 min' where order_no = $1`, [deducted]);
    const hours = `extract(hour from now() + interval '2 h')::integer, debit_hour_to = extract(hour from now() + interval '2 h')::integer + 1`;
    await sql(`update payment_channels set debit_hour_from = ${hours}`);
    const closed = await readOnce();
    await sql('update payment_channels set debit_hour_from = null, debit_hour_to = null');
    expect(sampleValue(closed, 'perennial_renewals_due')).toBe(0);
    expect(sampleValue(closed, 'perennial_renewals_oldest_seconds')).toBe(0);
  });
});

it('counts due notices before a debit, and the age of the oldest', async () => {
  const [due, later] = [await on.collectedOrder(), await on.paidOrder()];
  const dueIn = async (orderNo: string, time: string) =>
    sql(`update orders set notice_days = 2, next_due_at = now() + $2::text::interval where order_no = $1`, [
      orderNo,
      time,
    ]);
  await dueIn(due, '47 h 50 min');
  await dueIn(later, '48 h 10 min');
  const read = await readOnce();
  expect(sampleValue(read, 'perennial_notices_due')).toBe(1);
  expect(sampleValue(read, 'perennial_notices_oldest_seconds')).toBeGreaterThanOrEqual(600);
  expect(sampleValue(read, 'perennial_notices_oldest_seconds')).toBeLessThan(660);
  await sql('update orders set notice_days = null');
  expect(sampleValue(await readOnce(), 'perennial_notices_due')).toBe(0);
});

it('counts debits without a result once they were queried', async () => {
  on.institution.onDebit = async () => ({ kind: 'unknown' });
  on.institution.onQuery = async () => ({ kind: 'unknown' });
  await on.channel.call('orders/create', sharedRequest(on.channel));
  expect(sampleValue(await readOnce(), 'perennial_debits_unknown')).toBe(0);
  await on.askPending();
  expect(sampleValue(await readOnce(), 'perennial_debits_unknown')).toBe(1);
  on.institution.reset();
  await on.askPending();
  expect(sampleValue(await readOnce(), 'perennial_debits_unknown')).toBe(0);
});

it('counts each refund once, by its result, whoever settled it; pending refunds separately', async () => {
  const read = reader();
  const refunds = async () => {
    const shown = await read();
    return {
      success: sampleValue(shown, 'perennial_refunds_total', { outcome: 'success' }),
      refused: sampleValue(shown, 'perennial_refunds_total', { outcome: 'refused' }),
      unknown: sampleValue(shown, 'perennial_refunds_unknown'),
    };
  };
  expect(await refunds()).toEqual({ success: 0, refused: 0, unknown: 0 });
  const orderNo = await on.paidOrder();
  on.service.clock.advance(1_000);
  await on.refund({ orderNo, cycleNo: 1, amountCent: 1 });
  expect(await refunds()).toEqual({ success: 1, refused: 0, unknown: 0 });
  on.bank.onRefund = async () => ({ kind: 'refused', reason: 'no' });
  await expect(on.refund({ orderNo, cycleNo: 1, amountCent: 1 })).rejects.toThrow('refused');
  expect(await refunds()).toEqual({ success: 1, refused: 1, unknown: 0 });
  on.bank.onRefund = async () => ({ kind: 'unknown' });
  on.bank.onQuery = async () => ({ kind: 'unknown' });
  await on.refund({ orderNo, cycleNo: 1, amountCent: 1 });
  await on.askAll();
  expect(await refunds()).toEqual({ success: 1, refused: 1, unknown: 1 });
  on.service.clock.advance(3_600_000);
  expect(await refunds()).toEqual({ success: 1, refused: 1, unknown: 1 });
});

it('counts open alerts by kind, until they are acknowledged or end', async () => {
  const { database } = on.service.fresh;
  await raiseAlert(database, 'pool-empty', 'A', 'nothing left');
  await raiseAlert(database, 'pool-empty', 'B', 'nothing left');
  const open = await readOnce();
  expect(sampleValue(open, 'perennial_alerts_open', { kind: 'pool-empty', severity: 'critical' })).toBe(2);
  expect(sampleValue(open, 'perennial_alerts_open', { kind: 'billing-failed' })).toBe(0);
  await sql(`update alerts set acknowledged_at = now(), acknowledged_by = 'ann' where subject = 'A'`);
  expect(sampleValue(await readOnce(), 'perennial_alerts_open', { kind: 'pool-empty' })).toBe(1);
  await resolveAlert(database, 'pool-empty', 'B', 'there are codes');
  expect(sampleValue(await readOnce(), 'perennial_alerts_open', { kind: 'pool-empty' })).toBe(0);
});

it('the age of a backup exists once one was reported', async () => {
  const ages = async () => {
    const samples = (await readOnce()).get('perennial_backup_age_seconds')?.samples ?? [];
    return Object.fromEntries(samples.map(({ labels, value }) => [labels['way'], value]));
  };
  // A row as an earlier version stored it.
  await sql(`insert into backups (way, made_at) values ('COPY', now())`);
  expect(await ages()).toEqual({});
  await recordOtherBackup(on.operator);
  await sql(`update backups set made_at = made_at - interval '2 days'`);
  expect((await ages())['other']).toBeGreaterThanOrEqual(172_800);
  await recordOtherBackup(on.operator);
  expect((await ages())['other']).toBeLessThan(172_800);
});

it('the clock of the node is compared with that of the database', async () => {
  const { clock } = on.service;
  const before = clock.now();
  clock.set(Date.now() + 60_000);
  const ahead = sampleValue(await readOnce(), 'perennial_clock_skew_seconds');
  clock.set(before);
  expect(ahead).toBeGreaterThan(50);
  expect(ahead).toBeLessThan(61);
});

it('counting stops at its limit, and at most a hundred payment channels have their own series', async () => {
  const { database } = on.service.fresh;
  await on.channel.call('orders/create', collectRequest(on.channel));
  await on.channel.call('orders/create', collectRequest(on.channel));
  await sql(`update orders set next_due_at = now() where status = 'ACTIVE'`);
  await raiseAlert(database, 'pool-empty', 'C', 'nothing left');
  await raiseAlert(database, 'pool-empty', 'D', 'nothing left');
  const few = await readOnce({ rows: 3, alertsOfKind: 1 });
  expect(sampleValue(few, 'perennial_webhook_backlog')).toBe(3);
  expect(sampleValue(few, 'perennial_renewals_due')).toBe(3);
  expect(sampleValue(few, 'perennial_alerts_open', { kind: 'pool-empty' })).toBe(1);

  const registry = new Registry();
  const { counts, stop } = createBusinessMetrics(registry, '1');
  for (let n = 0; n < 150; n += 1) counts.countDebit(`PC${n}`, 'success');
  stop();
  const shown = readMetrics(await registry.metrics()).get('perennial_debits_total')?.samples ?? [];
  expect(shown).toHaveLength(101);
  expect(shown.find(({ labels }) => labels['payment_channel'] === 'other')?.value).toBe(50);
});
