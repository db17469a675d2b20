import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import { type Database, LONG_STATEMENT_MS } from '../../platform/db/database.js';
import {
  BILLING_LANES,
  billLane,
  findFirstDueOrder,
  lockLane,
} from '../../subscriptions/store/orders/bill-orders-sql.js';
import { processDueBatches } from './due-batches.js';

/** Larger statements are not faster (measured), and they hold locks longer. */
const ORDERS_PER_STATEMENT = 3000;
/** Billing lanes that one node processes concurrently. Each statement keeps one core of the database busy. */
const LANES_AT_A_TIME = 2;

/** Mode B: bills all due orders in batches. Nodes share the work: each skips the lanes that another node is billing. */
export async function billDueOrders(database: Database, stopping: () => boolean = () => false): Promise<number> {
  const lanes = Array.from({ length: BILLING_LANES }, (_, lane) => lane);
  const work = async (): Promise<number> => {
    const lane = lanes.shift();
    return lane === undefined ? 0 : (await billWholeLane(database, lane, stopping)) + (await work());
  };
  const totals = await Promise.all(Array.from({ length: LANES_AT_A_TIME }, work));
  return totals.reduce((sum, total) => sum + total, 0);
}

function billWholeLane(database: Database, lane: number, stopping: () => boolean): Promise<number> {
  return processDueBatches({
    most: ORDERS_PER_STATEMENT,
    stopping,
    process: (after, limit) =>
      database.transaction(
        async (tx) => ((await lockLane(tx, lane)) ? await billLane(tx, lane, after, limit) : undefined),
        { statementMs: LONG_STATEMENT_MS },
      ),
    findFirst: (after) => findFirstDueOrder(database, lane, after),
    onRefused: (orderNo, state) =>
      raiseAlertOnce(database, 'billing-failed', String(orderNo), alertText('billing-failed', state)),
  });
}
