import type { Database } from '../../platform/db/database.js';
import { type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';
import { expireAndComplete } from '../../subscriptions/store/orders/expire-and-complete-sql.js';

const ORDERS_PER_STATEMENT = 500;

/**
 * Mode A: completes orders with a single period. Sets a period to FAIL if it is over and still waits for its retry.
 * Does both even while the payment channel is closed.
 */
export async function expireAndCompleteDue(database: Database, stopping: () => boolean = () => false): Promise<number> {
  let total = 0;
  for (let after: DueCursor | undefined = START_OF_DUE_ORDERS; after && !stopping(); ) {
    const ended = await expireAndComplete(database, { kind: 'everything', after }, ORDERS_PER_STATEMENT);
    total += ended.length;
    after = ended.at(-1);
  }
  return total;
}
