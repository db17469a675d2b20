import { columns, declareRequire, type Queryable, statement } from '../../../platform/db/database.js';
import { epochMs, isoTime } from '../../../platform/db/time-sql.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import type { NewEvent } from '../events/outbox.js';
import { findPaymentsOfPeriods } from './orders-sql.js';

/** Returns for each order number the latest period that has begun. */
export async function findLatestPayments(tx: Queryable, orders: readonly Order[]): Promise<Map<number, Payment>> {
  if (orders.length === 0) return new Map();
  const rows = await findPaymentsOfPeriods(
    tx,
    orders.map(({ orderNo }) => orderNo),
    orders.map(({ cycleNo }) => cycleNo),
  );
  return new Map(rows.map(({ orderNo, ...payment }) => [orderNo, payment]));
}

/** The rows to store when an order is unsubscribed. */
export interface UnsubscribedRow {
  readonly order: Order;
  /** The voided period that waited for a retry. Undefined if no period waited. */
  readonly payment: Payment | undefined;
  readonly events: readonly NewEvent[];
  /** Events about voided periods. Sent after `events`, and only to channels that want these events. */
  readonly voidedEvents: readonly NewEvent[];
}

/** Stores orders, their voided periods and their events in one statement. The caller holds the orders' locks. */
const STORE_UNSUBSCRIBED_ORDERS = statement({
  name: 'store-unsubscribed',
  text: `
with ended as materialized (
  select * from json_to_recordset($1::json) as e(order_no bigint, status text, latest_payment_status text,
    voided_no integer, voided_status text)
), periods as (
  update payments p set status = e.voided_status
  from ended e where p.order_no = any(array[e.order_no]) and p.cycle_no = any(array[e.voided_no])
), moved as (
  update orders o set status = e.status, unsubscribed_at = $3::timestamptz, unsubscribe_source = $4,
    unsubscribe_reason = $5, next_due_at = null, latest_payment_status = e.latest_payment_status
  from ended e where o.order_no = any(array[e.order_no])
  returning o.order_no, o.channel_id,
    (select c.voided_period_events from channels c where c.channel_id = o.channel_id) as wants_voided
)
insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
select o.channel_id, e.order_no, e."eventType", e."cycleNo", e."cycleTo", $3::timestamptz, e.data
from json_to_recordset($2::json) as e(order_no bigint, turn integer, voided boolean, "eventType" text, "cycleNo" integer,
  "cycleTo" integer, data text) join moved o using (order_no)
where not e.voided or o.wants_voided
order by e.order_no, e.turn`,
  parameters: ['json', 'json', 'timestamp with time zone', 'text', 'text'],
});

export async function storeUnsubscribedOrders(
  tx: Queryable,
  rows: readonly UnsubscribedRow[],
  by: { readonly source: string; readonly reason: string | null },
  now: number,
): Promise<void> {
  await tx.query(STORE_UNSUBSCRIBED_ORDERS, [
    JSON.stringify(
      rows.map(({ order, payment }) => ({
        order_no: order.orderNo,
        status: order.status,
        latest_payment_status: order.latestPaymentStatus,
        voided_no: payment?.cycleNo ?? null,
        voided_status: payment?.status ?? null,
      })),
    ),
    JSON.stringify(
      rows.flatMap(({ order, events, voidedEvents }) =>
        [...events, ...voidedEvents].map((event, turn) => ({
          order_no: order.orderNo,
          turn,
          voided: turn >= events.length,
          ...event,
        })),
      ),
    ),
    isoTime(now),
    by.source,
    by.reason,
  ]);
}

/** Returns the time when an order was unsubscribed, or null if it was not. */
export const findUnsubscribedAt = declareRequire({
  text: `select ${epochMs('o.unsubscribed_at')} as at from orders o where o.order_no = $1`,
  parameters: ['bigint'],
  columns: columns({ at: 'bigint?' }),
  value: ({ at }) => at,
});
