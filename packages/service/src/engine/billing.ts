import type { Database } from '../db/database.js';
import { billDue } from '../orders/bill-sql.js';
import { type DueCursor, FROM_THE_START } from '../orders/due-sql.js';

/** Orders in one statement: more gain little (measured), and hold locks for longer. */
const BATCH = 2000;
/** Statements at a time: a statement keeps one core of the database busy. */
const LANES = 2;

/** Mode B: bills everything that is due, set by set. Several nodes share it, since each skips what another holds. */
export async function billCollected(database: Database, stopping: () => boolean = () => false): Promise<number> {
  const lane = async (): Promise<number> => {
    let total = 0;
    for (let after: DueCursor | undefined = FROM_THE_START; after && !stopping(); ) {
      const billed = await billDue(database, { kind: 'everything', after }, BATCH);
      total += billed.orders;
      after = billed.last;
    }
    return total;
  };
  const totals = await Promise.all(Array.from({ length: LANES }, lane));
  return totals.reduce((sum, total) => sum + total, 0);
}
