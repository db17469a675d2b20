import { alertText } from '../../platform/alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../platform/alerts/alerts-sql.js';
import { type Database, LONG_STATEMENT_MS, sqlState } from '../../platform/db/database.js';
import {
  BILLING_LANES,
  billLane,
  findFirstDueOrder,
  lockLane,
} from '../../subscriptions/store/orders/bill-orders-sql.js';
import { type DueCursor, START_OF_DUE_ORDERS } from '../../subscriptions/store/orders/due-orders-sql.js';

/** More orders in one statement gain nothing (measured) and hold locks for longer. */
const ORDERS_PER_STATEMENT = 3000;
/** Lanes that one node bills at the same time: each statement keeps one core of the database busy. */
const LANES_AT_A_TIME = 2;

/** SQL states that mean that an order of the batch is locked or has wrong data: smaller batches find out which order. */
const CAUSED_BY_SOME_ORDER = /^(22|23|55P03|40P01|57014)/;
/** SQL states that mean wrong data: trying again does not help. */
const REFUSED_BY_DATABASE = /^2[23]/;

/** Mode B: bills all due orders, batch by batch. Nodes share the work: each skips lanes that another node is billing. */
export async function billDueOrders(database: Database, stopping: () => boolean = () => false): Promise<number> {
  const lanes = Array.from({ length: BILLING_LANES }, (_, lane) => lane);
  const work = async (): Promise<number> => {
    const lane = lanes.shift();
    return lane === undefined ? 0 : (await billWholeLane(database, lane, stopping)) + (await work());
  };
  const totals = await Promise.all(Array.from({ length: LANES_AT_A_TIME }, work));
  return totals.reduce((sum, total) => sum + total, 0);
}

async function billWholeLane(database: Database, lane: number, stopping: () => boolean): Promise<number> {
  let total = 0;
  let limit = ORDERS_PER_STATEMENT;
  for (let after: DueCursor | undefined = START_OF_DUE_ORDERS; after && !stopping(); ) {
    const from: DueCursor = after;
    try {
      const billed = await database.transaction(
        async (tx) => ((await lockLane(tx, lane)) ? await billLane(tx, lane, from, limit) : undefined),
        { statementMs: LONG_STATEMENT_MS },
      );
      total += billed?.orders ?? 0;
      after = billed?.last;
      limit = Math.min(limit * 2, ORDERS_PER_STATEMENT);
    } catch (error) {
      if (!CAUSED_BY_SOME_ORDER.test(sqlState(error) ?? '')) throw error;
      if (limit === 1) after = await passOverOrder(database, lane, from, error);
      limit = Math.max(Math.floor(limit / 10), 1);
    }
  }
  return total;
}

/**
 * Skips one order, which must not delay the others. It may only be locked; if the database refuses it, operators get an
 * alert.
 */
async function passOverOrder(
  database: Database,
  lane: number,
  after: DueCursor,
  error: unknown,
): Promise<DueCursor | undefined> {
  const order = await findFirstDueOrder(database, lane, after);
  const state = sqlState(error) ?? '';
  if (order && REFUSED_BY_DATABASE.test(state)) {
    await raiseAlertOnce(database, 'billing-failed', String(order.orderNo), alertText('billing-failed', state));
  }
  return order;
}
