import {
  type Database,
  LONG_STATEMENT_MS,
  sqlState,
  type Transaction,
  type UncheckedSql,
} from '../../platform/db/database.js';

/** Rows per step: a step never holds locks or writes for long, whatever has piled up. */
export const STEP = 1000;
/** Steps in one run: more than ten busy channels can write between two runs. */
export const STEPS = 500;

/** Repeats a step that says how many rows it did, until one finds less than its fill. */
export async function inSteps(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 1; count <= STEPS; count += 1) {
    const done = await step();
    total += done;
    if (done < STEP) break;
  }
  return total;
}

/** Nobody waits for a chore: its statements may take longer than those of requests. */
export const patient = (database: Database): Database => {
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(work, { statementMs: LONG_STATEMENT_MS, ...options });
  const query = (text: UncheckedSql, values?: readonly unknown[]) => transaction((tx) => tx.query(text, values));
  return { ...database, transaction, query: query as Database['query'] };
};

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A transaction that needs a whole table for itself. Requests queue up behind whoever waits for that, so it waits 200 ms
 * at most. `undefined`: somebody was using the table, nothing was done, and the next run tries again.
 */
export async function ifFree<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T | undefined> {
  try {
    return await database.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = '200ms'`);
      return work(tx);
    });
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return undefined;
    throw error;
  }
}
