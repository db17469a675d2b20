import { columns, type Database, declareFind } from '../../platform/db/database.js';
import { MAX_STEPS } from './bounded-steps.js';

/** A range of table pages, for `ctid >= from and ctid < to`. */
interface Pages {
  readonly from: string;
  readonly to: string;
}

/** Table pages that one step reads: about five thousand benefits. */
const PAGES_PER_STEP = 64;

/**
 * Declares a chore that reads a whole table once a day, some pages at a time. That needs no index, and it finds every
 * row regardless of its times. One node a day reads the table. If that node stops, the remaining pages are read the
 * next day.
 */
export function declareDailyScan(
  job: string,
  table: string,
): (database: Database, workOn: (pages: Pages) => Promise<number>) => () => Promise<number> {
  /**
   * Begins to read the table. Returns its page numbers, or undefined if a node has begun in the last 24 hours. Ignores
   * a stored start time in the future, because it comes from a wrong clock.
   */
  const beginScan = declareFind({
    text: `insert into job_marks as m (job, reached_at) values ('${job}', now())
     on conflict (job) do update set reached_at = excluded.reached_at
       where m.reached_at <= excluded.reached_at - interval '24 hours'
         or m.reached_at > excluded.reached_at + interval '1 hour'
     returning 0 as page, pg_relation_size('${table}') / current_setting('block_size')::integer as "end"`,
    parameters: [],
    columns: columns({ page: 'integer', end: 'bigint' }),
  });
  return (database, workOn) => {
    let scan: { page: number; readonly end: number } | undefined;
    return async () => {
      let done = 0;
      scan ??= await beginScan(database);
      for (let step = 1; scan && step <= MAX_STEPS; step += 1) {
        const end = scan.page + PAGES_PER_STEP;
        done += await workOn({ from: `(${scan.page},0)`, to: `(${end},0)` });
        scan.page = end;
        if (end >= scan.end) scan = undefined;
      }
      return done;
    };
  };
}
