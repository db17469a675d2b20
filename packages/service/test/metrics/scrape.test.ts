import { afterEach, expect, it } from 'vitest';
import { VERSION } from '../../src/version.js';
import { until } from '../support/processes.js';
import { sampleValue } from '../support/scrape.js';
import { type SeenNode, seenNode } from './world.js';

let node: SeenNode | undefined;
afterEach(async () => {
  await node?.close().catch(() => undefined);
});

it('a scrape asks the database for nothing: without one it answers, and says how old the reading is', async () => {
  node = await seenNode();
  const { database } = node.service.fresh;
  expect(sampleValue(await node.scrape(), 'perennial_reading_age_seconds')).toBeLessThan(30);
  // Nothing gets through from now on.
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
