import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 1_000;
/** The number of orders that fall due each second. */
const ORDERS = 6;

/**
 * Makes random active orders due now: the retry of an order whose last debit failed, and the next period of any other
 * order. Later periods are due by the calendar.
 */
const FALL_DUE = `update orders set next_due_at = now() where order_no in (
  select order_no from orders where status = 'ACTIVE' and next_due_at > now() + interval '10 minutes'
  order by random() limit $1 for update skip locked)`;

/** Makes orders due continuously, except while the database is unavailable. */
export async function startDue({ openDatabase }) {
  const { database, close } = await openDatabase();
  let stopping = false;
  const running = (async () => {
    while (!stopping) {
      await database.query(FALL_DUE, [ORDERS]).catch(() => undefined);
      await delay(EVERY_MS);
    }
  })();
  return {
    async stop() {
      stopping = true;
      await running;
      await close();
    },
  };
}
