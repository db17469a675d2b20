import type { Database } from '../../src/platform/db/database.js';

/**
 * Returns each event of an order as a line with time, period and kind, in the order in which the events were written.
 */
export async function toldOf(database: Database, orderNo: string): Promise<string[]> {
  const events = await database.query<{ line: string }>(
    `select concat_ws(' ', left(occurred_at::text, 19), coalesce('period ' || cycle_no, 'order'),
       case event_type when 'payment.upcoming' then 'upcoming'
         else coalesce(data::json ->> 'paymentStatus', data::json ->> 'orderStatus') end) as line
     from events where order_no = $1 order by event_no`,
    [orderNo],
  );
  return events.map(({ line }) => line);
}

/** Returns only the notices of an order, such as `2026-02-01 10:00:00 period 2`. */
export const noticesOf = async (database: Database, orderNo: string): Promise<string[]> =>
  (await toldOf(database, orderNo)).filter((line) => line.endsWith(' upcoming')).map((line) => line.slice(0, -9));
