import { type Database, type Queryable, wrapQuery } from '../../src/platform/db/database.js';

export interface Cost<T> {
  readonly result: T;
  /** Rows fetched from tables. `pages` counts the pages of tables and indexes that were read. */
  readonly rows: number;
  readonly pages: number;
}

interface Plan {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

/**
 * Measures the database cost of a read. Runs each statement twice: first to count the pages that it reads, then for its
 * result. `plan` can force the generic plan that a named statement gets after a while.
 */
export async function costOf<T>(
  database: Database,
  read: (db: Queryable) => Promise<T>,
  plan: 'auto' | 'force_generic_plan' = 'auto',
): Promise<Cost<T>> {
  return database.transaction(async (tx) => {
    await tx.query(`set local plan_cache_mode = ${plan}`);
    let pages = 0;
    let rows = 0;
    const touched = async () => {
      const [row] = await tx.query<{ rows: number }>(
        'select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as rows from pg_stat_xact_user_tables',
      );
      return row?.rows ?? 0;
    };
    const result = await read({
      query: wrapQuery(tx, async (run, { text, values, byIndex }) => {
        await tx.query(`set local enable_seqscan = ${byIndex === true ? 'off' : 'on'}`);
        const [explained] = await tx.query<{ 'QUERY PLAN': readonly Plan[] }>(
          `explain (analyze, buffers, format json) ${text}`,
          values,
        );
        const top = explained?.['QUERY PLAN'][0]?.Plan;
        pages += (top?.['Shared Hit Blocks'] ?? 0) + (top?.['Shared Read Blocks'] ?? 0);
        const before = await touched();
        const found = await run();
        rows += (await touched()) - before;
        return found;
      }),
    });
    return { result, rows, pages };
  });
}
