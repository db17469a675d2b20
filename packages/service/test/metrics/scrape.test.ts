import { afterEach, expect, it } from 'vitest';
import { VERSION } from '../../src/platform/version.js';
import { gate } from '../agreements/support.js';
import { freshDatabase } from '../support/database.js';
import { until } from '../support/processes.js';
import { type Metric, sampleValue, scrape } from '../support/scrape.js';
import { testService } from '../support/service.js';
import { type SeenNode, seenNode } from './world.js';

let node: SeenNode | undefined;
afterEach(async () => {
  await node?.close().catch(() => undefined);
});

it('a scrape does not query the database: it answers without one, with the age of the reading', async () => {
  node = await seenNode();
  const { database } = node.service.fresh;
  expect(sampleValue(await node.scrape(), 'perennial_reading_age_seconds')).toBeLessThan(30);
  // Closes the node's database, so that no statement succeeds from now on.
  await database.close();
  const { scrape } = node;
  const first = sampleValue(await scrape(), 'perennial_reading_age_seconds') ?? 0;
  await until('an older reading', async () => {
    const metrics = await scrape();
    return (sampleValue(metrics, 'perennial_reading_age_seconds') ?? 0) > first + 0.2;
  });
  const metrics = await scrape();
  expect(sampleValue(metrics, 'perennial_benefit_codes_left', { benefit: 'COUPON' })).toBe(3);
  expect(sampleValue(metrics, 'perennial_build_info', { version: VERSION })).toBe(1);
  expect(sampleValue(metrics, 'perennial_event_loop_lag_seconds')).toBeGreaterThanOrEqual(0);
});

it('unread values are absent: with the engine off, and before the first reading', async () => {
  const ofInstallation = [
    'perennial_webhook_backlog',
    'perennial_renewals_due',
    'perennial_debits_unknown',
    'perennial_refunds_total',
    'perennial_alerts_open',
    'perennial_clock_skew_seconds',
    'perennial_institution_silent_seconds',
    'perennial_backup_age_seconds',
  ];
  const shown = async (metrics: Map<string, Metric>) => ofInstallation.filter((name) => metrics.has(name));

  const off = await testService({ engine: true, readsOnly: true });
  const without = await scrape(off.baseUrl);
  expect(await shown(without)).toEqual([]);
  expect(without.has('perennial_reading_age_seconds')).toBe(false);
  expect(sampleValue(without, 'perennial_engine_on')).toBe(0);
  await off.close();

  // The first reading waits for a table that another session has locked.
  const fresh = await freshDatabase();
  const lock = gate();
  const holder = fresh.database.transaction(async (tx) => {
    await tx.query('lock table due_events in access exclusive mode');
    await lock.stand();
  });
  await lock.reached;
  const on = await testService({ engine: true, database: fresh.database, testLimits: { readingSeconds: 0.1 } });
  const before = await scrape(on.baseUrl);
  expect(await shown(before)).toEqual([]);
  // This metric exists before the first reading too, so that a node that never reads is noticed.
  expect(before.has('perennial_reading_age_seconds')).toBe(true);
  expect(sampleValue(before, 'perennial_engine_on')).toBe(1);
  lock.open();
  await holder;
  const after = await until('a reading', async () => {
    const metrics = await scrape(on.baseUrl);
    return metrics.has('perennial_webhook_backlog') && metrics;
  });
  expect(await shown(after)).toEqual(ofInstallation);
  await on.close();
  await fresh.close();
});
