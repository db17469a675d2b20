import {
  type Database,
  LONG_STATEMENT_MS,
  sqlState,
  type Transaction,
  type UncheckedSql,
} from '../../platform/db/database.js';

/** So that a step is short, however many rows there are. */
export const ROWS_PER_STEP = 1000;
/** Steps of one run: more rows than ten busy channels can write between two runs. */
export const MAX_STEPS = 500;

/** Repeats a step, which returns its number of rows, until it has fewer than ROWS_PER_STEP. */
export async function runInSteps(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 1; count <= MAX_STEPS; count += 1) {
    const done = await step();
    total += done;
    if (done < ROWS_PER_STEP) break;
  }
  return total;
}

/** A database whose statements may take longer than those of requests, since nobody waits for a chore. */
export const createPatientDatabase = (database: Database): Database => {
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(work, { statementMs: LONG_STATEMENT_MS, ...options });
  const query = (text: UncheckedSql, values?: readonly unknown[]) => transaction((tx) => tx.query(text, values));
  return { ...database, transaction, query: query as Database['query'] };
};

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A transaction that locks a whole table. Requests queue up behind it while it waits for the lock, so it waits for at most
 * 200 ms. Undefined when the table was in use: nothing was done, and the next run tries again.
 */
export async function runIfTableIsFree<T>(
  database: Database,
  work: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> {
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
