import type { Database } from '../../platform/db/database.js';
import { type DueCursor, FROM_THE_START } from '../../subscriptions/store/orders/due-orders-sql.js';
import { endWithoutDebit } from '../../subscriptions/store/orders/expire-and-complete-sql.js';

const BATCH = 500;

/** Mode A: completes orders of one period and ends periods whose retry has come too late, whatever their payment channel does. */
export async function endDueWithoutDebit(database: Database, stopping: () => boolean = () => false): Promise<number> {
  let total = 0;
  for (let after: DueCursor | undefined = FROM_THE_START; after && !stopping(); ) {
    const ended = await endWithoutDebit(database, { kind: 'everything', after }, BATCH);
    total += ended.length;
    after = ended.at(-1);
  }
  return total;
}
