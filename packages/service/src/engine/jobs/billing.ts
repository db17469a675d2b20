import { raiseAlertOnce } from '../../platform/alerts/alerts-sql.js';
import { type Database, LONG_STATEMENT_MS, sqlState } from '../../platform/db/database.js';
import { BILLING_LANES, billLane, firstDue, takeLane } from '../../subscriptions/store/orders/bill-sql.js';
import { type DueCursor, FROM_THE_START } from '../../subscriptions/store/orders/due-sql.js';

/** Orders in one statement: more gain nothing (measured), and hold locks for longer. */
const BATCH = 3000;
/** Lanes at a time from one node: a statement keeps one core of the database busy. */
const AT_A_TIME = 2;

/** An order of the batch is held by somebody, or is not as it should be: smaller batches find out which. */
const OF_SOME_ORDER = /^(22|23|55P03|40P01|57014)/;
/** Nobody else's doing, and no better the next time. */
const REFUSED = /^2[23]/;

/** Mode B: bills everything that is due, set by set. Several nodes share it, since each passes over lanes another is in. */
export async function billCollected(database: Database, stopping: () => boolean = () => false): Promise<number> {
  const lanes = Array.from({ length: BILLING_LANES }, (_, lane) => lane);
  const work = async (): Promise<number> => {
    const lane = lanes.shift();
    return lane === undefined ? 0 : (await billAll(database, lane, stopping)) + (await work());
  };
  const totals = await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return totals.reduce((sum, total) => sum + total, 0);
}

async function billAll(database: Database, lane: number, stopping: () => boolean): Promise<number> {
  let total = 0;
  let limit = BATCH;
  for (let after: DueCursor | undefined = FROM_THE_START; after && !stopping(); ) {
    const from: DueCursor = after;
    try {
      const billed = await database.transaction(
        async (tx) => ((await takeLane(tx, lane)) ? await billLane(tx, lane, from, limit) : undefined),
        { statementMs: LONG_STATEMENT_MS },
      );
      total += billed?.orders ?? 0;
      after = billed?.last;
      limit = Math.min(limit * 2, BATCH);
    } catch (error) {
      if (!OF_SOME_ORDER.test(sqlState(error) ?? '')) throw error;
      if (limit === 1) after = await passOver(database, lane, from, error);
      limit = Math.max(Math.floor(limit / 10), 1);
    }
  }
  return total;
}

/** One order must not hold up the others. Somebody may just hold it; one that is refused an operator has to look at. */
async function passOver(
  database: Database,
  lane: number,
  after: DueCursor,
  error: unknown,
): Promise<DueCursor | undefined> {
  const order = await firstDue(database, lane, after);
  const state = sqlState(error) ?? '';
  if (order && REFUSED.test(state)) {
    await raiseAlertOnce(
      database,
      'billing-failed',
      String(order.orderNo),
      `the database refuses the period: ${state}`,
    );
  }
  return order;
}
