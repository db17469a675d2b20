import { PaymentRecord } from '@perennial/wire';
import { columns, joinColumns, type Queryable, statement } from '../../../platform/db/database.js';
import { fromEpochMs, shanghaiText } from '../../../platform/db/time-sql.js';
import type { Order } from '../../domain/orders/order.js';
import { jsonSql } from '../events/json-sql.js';
import { PERIODS_AT_A_TIME } from './order-text.js';
import { ORDER_COLUMNS, ORDER_FIELDS, type OrderReference } from './orders-sql.js';

export interface OrderQuery {
  readonly channelId: number;
  readonly reference: OrderReference;
}

export interface OrderText {
  readonly order: Order;
  /**
   * The started periods as JSON objects with commas between them, as in the interface's paymentRecords. Null when they are too
   * many for a statement that reads several orders: then the order is read by itself.
   */
  readonly started: string | null;
  /** Whether the user still has something to redeem. */
  readonly redeemable: boolean;
}

const PAYMENT_RECORD_SQL = jsonSql(PaymentRecord.properties, {
  paymentOrderNo: `p.order_no || lpad(p.cycle_no::text, 4, '0')`,
  cycleNo: 'p.cycle_no',
  expectPayTime: shanghaiText('p.expect_at'),
  paidAt: shanghaiText('p.paid_at'),
  amountCent: 'p.amount_cent',
  refundAmountCent: 'p.refund_amount_cent',
  paymentStatus: 'p.status',
});

/**
 * SQL of the started periods as the text of the answer: reading, formatting and serializing them in the node took a tenth of
 * what a query costs it. Null for an order for which `isFew` is false.
 */
export const startedPeriodsSql = (isFew: string) => `case when ${isFew} then coalesce((
  select string_agg(${PAYMENT_RECORD_SQL}, ',' order by p.cycle_no) from payments p where p.order_no = o.order_no), '') end`;

/** SQL: whether something is left to redeem at the time `$3`. Newest first, since old benefits have mostly expired. */
export const REDEEMABLE_SQL = `coalesce((select true from benefits b where b.order_no = o.order_no and b.status = 'ISSUED' and
  b.expires_at > ${fromEpochMs('$3')} order by b.cycle_no desc, b.position desc limit 1), false)`;

/**
 * Several orders in one statement, each looked up by itself (offset 0), whatever statistics the planner has. A subquery hides
 * the lengths of the arrays from the planner: otherwise it would plan the statement anew each time (see
 * catalog/channels/admission-sql.ts).
 */
const FIND_ORDER_TEXTS = statement({
  name: 'find-orders',
  text: `
select ${ORDER_FIELDS}, a.n, ${startedPeriodsSql(`o.cycle_no <= ${PERIODS_AT_A_TIME}`)} as started, ${REDEEMABLE_SQL} as redeemable
from (select $1::bigint[] as channel_id, $2::bigint[] as order_no, $4::text[] as external_order_no offset 0) all_of,
  unnest(all_of.channel_id, all_of.order_no, all_of.external_order_no) with ordinality
    as a(channel_id, order_no, external_order_no, n),
  lateral (
    select * from orders o where o.channel_id = a.channel_id and o.order_no = coalesce(a.order_no,
      (select e.order_no from external_orders e where key_of(e.external_order_no) = key_of(a.external_order_no)))
    offset 0) o`,
  parameters: ['bigint[]', 'bigint[]', 'double precision', 'text[]'],
  columns: joinColumns(
    ORDER_COLUMNS,
    columns<Omit<OrderText, 'order'> & { readonly n: number }>({
      n: 'bigint',
      started: 'text?',
      redeemable: 'boolean',
    }),
  ),
});

/** The orders in the order asked for, all read at one moment. Undefined for an order that the channel does not have. */
export async function findOrderTexts(
  db: Queryable,
  asked: readonly OrderQuery[],
  now: number,
): Promise<(OrderText | undefined)[]> {
  const answers = new Array<OrderText | undefined>(asked.length).fill(undefined);
  const rows = await db.query(FIND_ORDER_TEXTS, [
    asked.map(({ channelId }) => channelId),
    asked.map(({ reference }) => reference.orderNo ?? null),
    now,
    asked.map(({ reference }) => reference.externalOrderNo ?? null),
  ]);
  for (const row of rows) answers[row.n - 1] = { order: row, started: row.started, redeemable: row.redeemable };
  return answers;
}
