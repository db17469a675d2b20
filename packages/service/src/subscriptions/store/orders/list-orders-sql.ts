import { columns, joinColumns, type Queryable, statement } from '../../../platform/db/database.js';
import { epochMicros, fromEpochMicros } from '../../../platform/db/time-sql.js';
import type { ListPosition } from '../../../platform/lists/list-page.js';
import { type OrderText, redeemableSql, startedPeriodsSql } from './order-texts-sql.js';
import { ORDER_COLUMNS, ORDER_FIELDS } from './orders-sql.js';

/** The maximum number of rendered periods on a page, because they are held in memory until the caller has read them. */
const MAX_STARTED_PERIODS = 500;
const NEWEST_FIRST = 'order by o.created_at desc, o.order_no desc';

export type OrderKey = readonly [createdMicros: number, orderNo: number];

export interface ListedOrder extends OrderText {
  readonly createdMicros: number;
}

export interface OrderFilter {
  readonly channelUserId: string;
  readonly cycles: 'SINGLE' | 'MULTIPLE' | undefined;
}

/**
 * SQL: selects a user's newest orders of one kind: with a single period, or with several. The index separates the two
 * kinds, and a page merges them.
 */
const newestOrdersSql = (isSingle: string, cycles: 'SINGLE' | 'MULTIPLE') => `(
  select e.created_at, e.order_no from external_orders e
  where e.channel_id = $1 and e.user_key = key_of($2::text) and ${isSingle} and coalesce($4::text, '${cycles}') = '${cycles}'
    and (e.created_at, e.order_no) < (coalesce(${fromEpochMicros('$7')}, 'infinity'), coalesce($8::bigint, 0))
  order by e.created_at desc, e.order_no desc limit $5::bigint + $6::bigint)`;

const LIST_ORDER_TEXTS = statement({
  name: 'list-orders',
  text: `select ${ORDER_FIELDS}, ${epochMicros('o.created_at')} as "createdMicros", ${redeemableSql('$3')} as redeemable,
               ${startedPeriodsSql(`sum(o.cycle_no) over (${NEWEST_FIRST}) <= ${MAX_STARTED_PERIODS}`)} as started
             from (
               select o.* from (
                 select * from (${newestOrdersSql('e.single', 'SINGLE')} union all ${newestOrdersSql('not e.single', 'MULTIPLE')}) n
                 order by n.created_at desc, n.order_no desc limit $5 offset $6) k,
                 lateral (select * from orders o where o.order_no = k.order_no offset 0) o) o
             ${NEWEST_FIRST}`,
  parameters: ['bigint', 'text', 'double precision', 'text', 'bigint', 'bigint', 'bigint', 'bigint'],
  columns: joinColumns(ORDER_COLUMNS, columns({ createdMicros: 'bigint', redeemable: 'boolean', started: 'text?' })),
});

/**
 * Lists a user's orders by creation time, newest first. Does not sort by order number, because each node has its own
 * block of numbers.
 */
export async function listOrderTexts(
  db: Queryable,
  channelId: number,
  filter: OrderFilter,
  now: number,
  limit: number,
  { after, offset }: ListPosition<OrderKey>,
): Promise<ListedOrder[]> {
  const rows = await db.query(LIST_ORDER_TEXTS, [
    channelId,
    filter.channelUserId,
    now,
    filter.cycles ?? null,
    limit,
    offset,
    after?.[0] ?? null,
    after?.[1] ?? null,
  ]);
  return rows.map(({ createdMicros, started, redeemable, ...order }) => ({
    order,
    createdMicros,
    started,
    redeemable,
  }));
}
