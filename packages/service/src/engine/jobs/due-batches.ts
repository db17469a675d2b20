import { sqlState } from '../../platform/db/database.js';
import { type DueBatch, type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';

/** SQL states that mean that an order of the batch is locked or has wrong data: smaller batches find out which order. */
const CAUSED_BY_SOME_ORDER = /^(22|23|55P03|40P01|57014)/;
/** SQL states that mean wrong data: trying again does not help. */
const REFUSED_BY_DATABASE = /^2[23]/;

export interface DueBatches {
  /** Orders in one statement, at most. */
  readonly most: number;
  readonly stopping: () => boolean;
  /** Moves the next orders on, all of them or none. Undefined: another node does it. */
  process(after: DueCursor, limit: number): Promise<DueBatch | undefined>;
  findFirst(after: DueCursor): Promise<DueCursor | undefined>;
  onRefused(orderNo: number, state: string): Promise<void>;
}

/**
 * Moves all due orders on, batch by batch. A batch that fails because of one of its orders is made smaller until that one is
 * alone; it is passed over, and delays no other.
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

/** It may only be locked; if the database refuses it, operators hear of it. */
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
