import { columns, declareWrite, type Queryable, requireOne, statement } from '../../../platform/db/database.js';
import { DEBITABLE_ORDER_STATUSES } from '../../domain/orders/order-states.js';
import { orderStatusIs } from '../statuses-sql.js';

/**
 * How many times all running orders of a channel are given its new notice days. During the first round, a concurrent
 * request may still store an order with the former notice days.
 */
const ROUNDS = 2;
/** The pause between two rounds. Requests that began before the notice days were changed have ended after this time. */
const BETWEEN_ROUNDS = `interval '1 minute'`;
const AGAIN_SOON = `interval '1 s'`;

/**
 * Makes the job give all running orders of the channel its current notice days. An alignment in progress begins again.
 */
export const requestAlignment = declareWrite({
  text: `insert into notice_alignments (channel_id, rounds_left, not_before) values ($1, ${ROUNDS}, now())
     on conflict (channel_id) do update set rounds_left = ${ROUNDS}, not_before = now(), after_product = null,
       after_created_at = null, after_order_no = null`,
  parameters: ['bigint'],
});

/** Locks the next alignment that is due, and returns the last order that it has checked. */
const LOCK_ALIGNMENT = statement({
  text: `select channel_id as "channelId", after_product as product, after_created_at::text as "createdAt",
       after_order_no as "orderNo"
     from notice_alignments where not_before <= now() order by not_before limit 1 for update skip locked`,
  parameters: [],
  columns: columns({
    channelId: 'bigint',
    product: 'text?',
    createdAt: 'text?',
    orderNo: 'bigint?',
  }),
});

const ALIGN_PAGE = statement({
  text: `
with wish as (
  select upcoming_notice_days as days from channels where channel_id = $1
), page as materialized (
  select e.product_code, e.created_at, e.order_no from external_orders e
  where e.channel_id = $1 and (e.product_code, e.created_at, e.order_no) > ($2, $3::timestamptz, $4::bigint)
  order by e.product_code, e.created_at, e.order_no limit $5
), wrong as materialized (
  select o.order_no from orders o where o.order_no = any(array(select p.order_no from page p))
    and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)} and o.notice_days is distinct from (select w.days from wish w)
), free as materialized (
  select o.order_no from orders o where o.order_no = any(array(select w.order_no from wrong w)) for update skip locked
), aligned as (
  update orders o set notice_days = (select w.days from wish w) where o.order_no = any(array(select f.order_no from free f))
)
select l.product_code as product, l.created_at::text as "createdAt", l.order_no as "orderNo",
  (select count(*) from page)::integer as orders,
  (select count(*) from wrong)::integer - (select count(*) from free)::integer as left
from (select) as always left join lateral (
  select * from page p order by p.product_code desc, p.created_at desc, p.order_no desc limit 1) l on true`,
  parameters: ['bigint', 'text', 'timestamp with time zone', 'bigint', 'bigint'],
  columns: columns({
    /** The position of the page's last order: its product, creation time and number. */
    product: 'text?',
    createdAt: 'text?',
    orderNo: 'bigint?',
    orders: 'integer',
    /** The number of orders that could not be aligned, because a different transaction had locked them. */
    left: 'integer',
  }),
});

const STORE_PLACE = statement({
  text: `update notice_alignments set after_product = $2, after_created_at = $3::timestamptz, after_order_no = $4
     where channel_id = $1`,
  parameters: ['bigint', 'text', 'timestamp with time zone', 'bigint'],
});

const PUT_OFF = statement({
  text: `update notice_alignments set not_before = now() + ${AGAIN_SOON} where channel_id = $1`,
  parameters: ['bigint'],
});

const END_ROUND = statement({
  text: `update notice_alignments set rounds_left = rounds_left - 1, not_before = now() + ${BETWEEN_ROUNDS},
       after_product = null, after_created_at = null, after_order_no = null
     where channel_id = $1`,
  parameters: ['bigint'],
});

const DELETE_DONE = statement({
  text: 'delete from notice_alignments where channel_id = $1 and rounds_left <= 0',
  parameters: ['bigint'],
});

/**
 * Gives the next orders of one channel its current notice days. Returns false if nothing is to be done now. If orders
 * are locked, does not wait, but repeats the page a moment later, after other channels.
 */
export async function alignOrders(tx: Queryable, limit: number): Promise<boolean> {
  const [place] = await tx.query(LOCK_ALIGNMENT);
  if (!place) return false;
  const { channelId } = place;
  // A separate statement after the lock, so that it reads the channel's current notice days.
  const page = await requireOne(tx, ALIGN_PAGE, [
    channelId,
    place.product ?? '',
    place.createdAt ?? '-infinity',
    place.orderNo ?? 0,
    limit,
  ]);
  if (page.left > 0) await tx.query(PUT_OFF, [channelId]);
  else if (page.orders === limit) await tx.query(STORE_PLACE, [channelId, page.product, page.createdAt, page.orderNo]);
  else {
    await tx.query(END_ROUND, [channelId]);
    await tx.query(DELETE_DONE, [channelId]);
  }
  return true;
}
