import type { Queryable } from '../db/database.js';
import type { Order } from './order.js';
import { type OrderText, REDEEMABLE, startedText } from './query-sql.js';
import { ORDER_COLUMNS } from './sql.js';

/** Of all orders of a page together: they are held until the caller has read them. */
const MOST_STARTED = 500;
const NEWEST_FIRST = 'order by o.created_at desc, o.order_no desc';

/** A user's orders, newest first; not by number, since each node has a block of its own. */
export async function listOrderTexts(
  db: Queryable,
  channelId: number,
  filter: { readonly channelUserId: string; readonly cycles: 'SINGLE' | 'MULTIPLE' | undefined },
  now: number,
  limit: number,
  offset: number,
): Promise<OrderText[]> {
  const rows = await db.query<Order & Omit<OrderText, 'order'>>(
    {
      name: 'list-orders',
      text: `select ${ORDER_COLUMNS}, ${REDEEMABLE} as redeemable,
               ${startedText(`sum(o.cycle_no) over (${NEWEST_FIRST}) <= ${MOST_STARTED}`)} as started
             from (
               select * from orders o where o.channel_id = $1 and o.order_no = any(array(
                   select e.order_no from external_orders e where e.channel_id = $1 and e.user_key = key_of($2::text)))
                 and ($4::text is null or ($4 = 'SINGLE') = (o.total_cycles = 1))
               ${NEWEST_FIRST} limit $5 offset $6) o
             ${NEWEST_FIRST}`,
    },
    [channelId, filter.channelUserId, now, filter.cycles ?? null, limit, offset],
  );
  return rows.map(({ started, redeemable, ...order }) => ({ order, started, redeemable }));
}
