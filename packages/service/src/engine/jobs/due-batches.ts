import { sqlState } from '../../platform/db/database.js';
import { type DueBatch, type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';

/**
 * SQL states that one order of the batch may have caused, because it is locked or has wrong data. Smaller batches find
 * this order.
 */
const CAUSED_BY_SOME_ORDER = /^(22|23|55P03|40P01|57014)/;
/** SQL states for wrong data, where a retry does not help. */
const REFUSED_BY_DATABASE = /^2[23]/;

export interface DueBatches {
  /** The maximum number of orders in one statement. */
  readonly most: number;
  readonly stopping: () => boolean;
  /** Processes the next due orders in one transaction. Returns undefined if another node is processing them. */
  process(after: DueCursor, limit: number): Promise<DueBatch | undefined>;
  findFirst(after: DueCursor): Promise<DueCursor | undefined>;
  onRefused(orderNo: number, state: string): Promise<void>;
}

/**
 * Processes all due orders in batches. If a batch fails because of one order, the batches shrink until that order is
 * alone. It is then skipped, so that it delays no other order.
 */
export async function processDueBatches({ most, stopping, process, ...rest }: DueBatches): Promise<number> {
  let total = 0;
  let limit = most;
  for (let after: DueCursor | undefined = START_OF_DUE_ORDERS; after && !stopping(); ) {
    const from: DueCursor = after;
    try {
      const batch = await process(from, limit);
      total += batch?.orders ?? 0;
      after = batch?.last;
      limit = Math.min(limit * 2, most);
    } catch (error) {
      if (!CAUSED_BY_SOME_ORDER.test(sqlState(error) ?? '')) throw error;
      if (limit === 1) after = await passOverOrder(rest, from, error);
      limit = Math.max(Math.floor(limit / 10), 1);
    }
  }
  return total;
}

/** Skips an order. Raises an alert if the database refuses the order, but not if the order is only locked. */
async function passOverOrder(
  { findFirst, onRefused }: Pick<DueBatches, 'findFirst' | 'onRefused'>,
  after: DueCursor,
  error: unknown,
): Promise<DueCursor | undefined> {
  const order = await findFirst(after);
  const state = sqlState(error) ?? '';
  if (order && REFUSED_BY_DATABASE.test(state)) await onRefused(order.orderNo, state);
  return order;
}
