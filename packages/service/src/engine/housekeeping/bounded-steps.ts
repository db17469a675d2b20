import {
  type Database,
  LONG_STATEMENT_MS,
  sqlState,
  type Transaction,
  type UncheckedSql,
} from '../../platform/db/database.js';

/** The maximum number of rows in one step, so that a step is short regardless of the total. */
export const ROWS_PER_STEP = 1000;
/**
 * The maximum number of steps in one run. Together they delete more rows than ten busy channels can write between two
 * runs.
 */
export const MAX_STEPS = 500;

/** Repeats a step until it returns fewer than ROWS_PER_STEP rows, at most MAX_STEPS times. */
export async function runInSteps(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 1; count <= MAX_STEPS; count += 1) {
    const done = await step();
    total += done;
    if (done < ROWS_PER_STEP) break;
  }
  return total;
}

/** Wraps a database with longer statement timeouts than requests have, because no caller waits for a chore. */
export const createPatientDatabase = (database: Database): Database => {
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(work, { statementMs: LONG_STATEMENT_MS, ...options });
  const query = (text: UncheckedSql, values?: readonly unknown[]) => transaction((tx) => tx.query(text, values));
  return { ...database, transaction, query: query as Database['query'] };
};

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs a transaction that locks a whole table. Requests queue behind it while it waits for the lock, so it waits for at
 * most 200 ms. Returns undefined, with nothing changed, if the table was in use. The next run retries.
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
