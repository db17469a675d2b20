import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlertOnce } from '../../alerts/alerts-sql.js';
import { type Database, LONG_STATEMENT_MS } from '../../platform/db/database.js';
import { alignOrders } from '../../subscriptions/store/orders/notice-alignments-sql.js';
import { findFirstNotice, noticeOrders } from '../../subscriptions/store/orders/notice-orders-sql.js';
import { processDueBatches } from './due-batches.js';

const NOTICES_PER_STATEMENT = 1000;
/** The maximum number of orders whose notice days one statement compares with the notice days of their channel. */
const ORDERS_PER_ALIGNMENT = 1000;

/** Announces coming periods to channels that want notices. Nodes share the work: each skips locked orders. */
export async function noticeDueOrders(database: Database, stopping: () => boolean = () => false): Promise<number> {
  return processDueBatches({
    most: NOTICES_PER_STATEMENT,
    stopping,
    process: (after, limit) =>
      database.transaction((tx) => noticeOrders(tx, after, limit), { statementMs: LONG_STATEMENT_MS }),
    findFirst: (after) => findFirstNotice(database, after),
    onRefused: (orderNo, state) =>
      raiseAlertOnce(database, 'upcoming-notice-failed', String(orderNo), alertText('upcoming-notice-failed', state)),
  });
}

/** Gives existing orders the notice days of their channel. If this node dies, another node continues. */
export async function alignNoticeDays(database: Database, stopping: () => boolean = () => false): Promise<void> {
  while (!stopping() && (await database.transaction((tx) => alignOrders(tx, ORDERS_PER_ALIGNMENT))));
}
