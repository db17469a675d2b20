import { beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { type Database, openDatabase, type Transaction, wrapQuery } from '../../src/platform/db/database.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofEachTest(() => freshDatabase());
let log: CapturedLog;
let tidy: ReturnType<typeof createHousekeeping>;
const keeper = (database: Database) => createHousekeeping({ database, log: log.log });
beforeEach(() => {
  log = capturedLog();
  tidy = keeper(fresh.database);
});

/** Inserts benefits. `expires` is an interval from now: '-2 hours' expired two hours ago. */
const issue = (orderNo: number, expires: string, { status = 'ISSUED', count = 1 } = {}) =>
  fresh.database.query(
    `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status,
       issued_at, expires_at)
     select $1, n, 1, 1, 'VIP_PASS', 'VIP pass', 1500, $3, now() + $2::interval - interval '90 days', now() + $2::interval
     from generate_series(1, $4::integer) n`,
    [orderNo, expires, status, count],
  );

async function statuses(): Promise<Record<number, string>> {
  const rows = await fresh.database.query<{ orderNo: number; status: string }>(
    'select order_no as "orderNo", status from benefits',
  );
  return Object.fromEntries(rows.map(({ orderNo, status }) => [orderNo, status]));
}

const aDayLater = () => fresh.database.query(`update job_marks set reached_at = reached_at - interval '1 day'`);

describe('benefits', () => {
  it('become EXPIRED when their time is over; valid and ended ones are unchanged', async () => {
    await issue(1, '-2 hours');
    await issue(2, '-400 days');
    await issue(3, '-30 minutes');
    await issue(4, '1 second');
    await issue(5, '90 days');
    await issue(6, '-2 hours', { status: 'CLAIMED' });
    await issue(7, '-2 hours', { status: 'REVOKED' });
    expect(await tidy()).toEqual({ benefitsExpired: 2 });
    expect(await statuses()).toEqual({
      1: 'EXPIRED',
      2: 'EXPIRED',
      3: 'ISSUED',
      4: 'ISSUED',
      5: 'ISSUED',
      6: 'CLAIMED',
      7: 'REVOKED',
    });
  });

  it('are found whatever their times and the place of their rows: simulated years ahead, or restored', async () => {
    await issue(1, '10 years', { count: 3000 });
    await issue(2, '-1 day');
    await issue(3, '20 years', { count: 3000 });
    expect(await tidy()).toEqual({ benefitsExpired: 1 });
    await issue(4, '-5 years');
    await aDayLater();
    expect(await tidy()).toEqual({ benefitsExpired: 1 });
    expect(await statuses()).toEqual({ 1: 'ISSUED', 2: 'EXPIRED', 3: 'ISSUED', 4: 'EXPIRED' });
  });

  it('that are being claimed or revoked are skipped without waiting, and keep their new status', async () => {
    await issue(1, '-2 hours');
    await issue(2, '-2 hours');
    await issue(3, '-2 hours');
    await fresh.database.transaction(async (tx) => {
      await tx.query(`update benefits set status = 'CLAIMED' where order_no = 1`);
      await tx.query('select from benefits where order_no = 2 for update');
      expect(await tidy()).toEqual({ benefitsExpired: 1 });
    });
    expect(await statuses()).toEqual({ 1: 'CLAIMED', 2: 'ISSUED', 3: 'EXPIRED' });
    await aDayLater();
    expect(await tidy()).toEqual({ benefitsExpired: 1 });
    expect(await statuses()).toEqual({ 1: 'CLAIMED', 2: 'EXPIRED', 3: 'EXPIRED' });
  });

  it('are processed once a day, by one of many concurrent nodes', async () => {
    await issue(1, '-2 hours', { count: 200 });
    const nodes = Array.from({ length: 4 }, () => openDatabase({ url: fresh.url, pool: 2, name: 'node' }));
    const keepers = nodes.map(keeper);
    const done = await Promise.all(keepers.map((run) => run()));
    expect(done.filter((one) => one.benefitsExpired === 200)).toHaveLength(1);
    await issue(2, '-2 hours');
    for (const run of keepers) expect(await run()).toEqual({});
    await aDayLater();
    expect(await keepers[0]?.()).toEqual({ benefitsExpired: 1 });
    await Promise.all(nodes.map((node) => node.close()));
    expect(log.lines().filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('are processed again although a wrong clock has left a mark in the future', async () => {
    await tidy();
    await fresh.database.query(`update job_marks set reached_at = now() + interval '4 years'`);
    await issue(1, '-2 hours');
    expect(await tidy()).toEqual({ benefitsExpired: 1 });
  });
});

describe('bounded work', () => {
  /** Records the steps that housekeeping takes. `pages` makes the table look larger than it is. */
  function watched(database: Database, pages?: number) {
    const steps: { readonly pages: readonly unknown[]; readonly rows: number }[] = [];
    const watching = (tx: Transaction) =>
      wrapQuery(tx, async (run, { text, values }) => {
        const found = await run();
        const rows = found as object[];
        if (text.includes('update benefits')) steps.push({ pages: values, rows: rows.length });
        if (text.includes('benefits-expired') && pages !== undefined) {
          return rows.map((row) => ({ ...row, end: pages })) as typeof found;
        }
        return found;
      });
    const transaction: Database['transaction'] = (work, options) =>
      database.transaction((tx) => work({ ...tx, query: watching(tx) }), options);
    return { steps, database: { ...database, transaction } };
  }

  it('a step processes the benefits of 64 pages, and all steps together process all', async () => {
    await issue(1, '-2 hours', { count: 9999 });
    await issue(2, '-2 hours', { count: 9999 });
    const { steps, database } = watched(fresh.database);
    expect(await keeper(database)()).toEqual({ benefitsExpired: 19_998 });
    expect(steps.map(({ pages }) => pages)).toEqual(steps.map((_, n) => [`(${n * 64},0)`, `(${(n + 1) * 64},0)`]));
    // A step reads 64 pages, and each row takes more than 100 of a page's 8192 bytes.
    for (const { rows } of steps) expect(rows).toBeLessThan(64 * 80);
    expect(steps.length).toBeGreaterThan(3);
  });

  it('a run takes 500 steps; the next continues where it ended, and the last ends the walk', async () => {
    const { steps, database } = watched(fresh.database, 64 * 1100);
    const run = keeper(database);
    for (const total of [500, 1000, 1100, 1100]) {
      await run();
      expect(steps).toHaveLength(total);
    }
    expect(steps.at(-1)?.pages).toEqual([`(${64 * 1099},0)`, `(${64 * 1100},0)`]);
  });
});
