import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { ClockWatch } from '../platform/installation/clock-watch.js';
import type { BusinessMetrics } from './metrics/business-metrics.js';
import { READING_BOUNDS, type ReadingBounds, readBusiness, readSettledRefunds } from './metrics/readings-sql.js';

export interface BusinessReaderDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: BusinessMetrics;
  readonly clockWatch: Pick<ClockWatch, 'skewSeconds'>;
  /** Replaces the default bounds in tests. */
  readonly bounds?: Partial<ReadingBounds>;
}

/** The time limit of each statement of a reading. */
const MAX_STATEMENT_MS = 3_000;
/**
 * Each reading covers the refunds that were settled in the ten minutes before it, although a reading runs every 15 s.
 * So it also finds refunds that were committed late. A refund that the previous reading found is not counted again.
 */
const OVERLAP_MS = 600_000;

/** Reads the values of the installation's gauges. Only a job calls it, every 15 s. A scrape shows the last values. */
export function createBusinessReader({ database, clock, metrics, clockWatch, bounds }: BusinessReaderDeps) {
  const limits = { ...READING_BOUNDS, ...bounds };
  const startedAt = clock.now();
  let counted: ReadonlySet<string> = new Set();
  return async function read(): Promise<void> {
    const since = Math.max(startedAt, clock.now() - OVERLAP_MS);
    const { business, settled } = await database.transaction(
      async (tx) => ({
        business: await readBusiness(tx, limits),
        settled: await readSettledRefunds(tx, since, limits.rows),
      }),
      { statementMs: MAX_STATEMENT_MS },
    );
    const fresh = settled.filter(({ key }) => !counted.has(key));
    counted = new Set(settled.map(({ key }) => key));
    const refused = fresh.filter(({ isRefused }) => isRefused).length;
    metrics.show({ ...business, refunds: { refused, success: fresh.length - refused } });
    metrics.showClockSkew(clockWatch.skewSeconds());
  };
}
