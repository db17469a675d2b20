import { columns, type Database, declareFind, statement } from '../../platform/db/database.js';
import { MAX_STEPS } from './bounded-steps.js';

/** Table pages that one step reads: about five thousand benefits. */
const PAGES_PER_STEP = 64;

/**
 * Marks ISSUED benefits whose time is over as EXPIRED. Nothing depends on the mark, because every reader of a benefit
 * checks its time too. So this can be slow: once a day it reads the whole table, some pages at a time. That needs no
 * index, and it finds every row regardless of its times.
 */
export function createBenefitExpiry(database: Database): () => Promise<number> {
  // The pages that this node still has to read. One node a day reads the table. If that node stops, the remaining pages
  // are read the next day.
  let walk: { page: number; readonly end: number } | undefined;
  return async () => {
    let expired = 0;
    walk ??= await beginWalk(database);
    for (let step = 1; walk && step <= MAX_STEPS; step += 1) {
      expired += await expireBenefitsInPages(database, walk.page, walk.page + PAGES_PER_STEP);
      walk.page += PAGES_PER_STEP;
      if (walk.page >= walk.end) walk = undefined;
    }
    return expired;
  };
}

/**
 * Begins to read the table. Returns its page numbers, or undefined if a node has begun in the last 24 hours. Ignores a
 * start time in the future, which a wrong clock has left.
 */
const beginWalk = declareFind({
  text: `insert into job_marks as m (job, reached_at) values ('benefits-expired', now())
     on conflict (job) do update set reached_at = excluded.reached_at
       where m.reached_at <= excluded.reached_at - interval '24 hours'
         or m.reached_at > excluded.reached_at + interval '1 hour'
     returning 0 as page, pg_relation_size('benefits') / current_setting('block_size')::integer as "end"`,
  parameters: [],
  columns: columns({ page: 'integer', end: 'bigint' }),
});

const EXPIRE_BENEFITS_IN_PAGES = statement({
  text: `update benefits set status = 'EXPIRED' where ctid = any(array(
       select ctid from benefits where ctid >= $1::tid and ctid < $2::tid
         and status = 'ISSUED' and expires_at <= now() - interval '1 hour' for update skip locked)) returning 1`,
  parameters: ['tid', 'tid'],
});

/** Skips benefits that are being claimed or revoked. The extra hour allows for nodes whose clocks differ. */
async function expireBenefitsInPages(database: Database, from: number, to: number): Promise<number> {
  const rows = await database.query(EXPIRE_BENEFITS_IN_PAGES, [`(${from},0)`, `(${to},0)`]);
  return rows.length;
}
