import type { Transaction, Transactional } from '../../platform/db/database.js';

/** Runs `read` in one snapshot of the database. */
export async function readAtOneMoment<T>(database: Transactional, read: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    return read(tx);
  });
}
