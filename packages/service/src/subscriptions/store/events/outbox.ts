import { type EventType, eventTypes } from '@perennial/wire';
import { type Queryable, statement } from '../../../platform/db/database.js';
import { orderPayloadJson, paymentPayloadJson } from '../../domain/orders/event-payloads.js';
import type { Order, Payment } from '../../domain/orders/order.js';

/**
 * An event for the channel, stored in the transaction of the change that it reports. The trigger `queue_events` queues
 * each row of `events` in the same transaction. It inserts a row into `due_events`, or into `undelivered_events` if the
 * channel has no callback URL for the event.
 */
export interface NewEvent {
  readonly eventType: EventType;
  readonly cycleNo: number | null;
  /** The last of the voided periods that share this row. One event is sent for each of them. Null for other events. */
  readonly cycleTo: number | null;
  readonly data: string;
}

const [ORDER_CHANGED, PAYMENT_CHANGED] = eventTypes;

export function orderChangedEvent(order: Order): NewEvent {
  return { eventType: ORDER_CHANGED, cycleNo: null, cycleTo: null, data: orderPayloadJson(order) };
}

export function paymentChangedEvent(order: Order, payment: Payment): NewEvent {
  const data = paymentPayloadJson(order, payment);
  return { eventType: PAYMENT_CHANGED, cycleNo: payment.cycleNo, cycleTo: null, data };
}

/** Creates the event that all periods from `first` to the last period of the order were voided. */
export function paymentsVoidedEvent(order: Order, first: Payment): NewEvent {
  return { ...paymentChangedEvent(order, first), cycleTo: order.totalCycles };
}

const INSERT_EVENTS = statement({
  text: `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
     select $1, $2, e."eventType", e."cycleNo", e."cycleTo", to_timestamp($3::double precision / 1000), e.data
     from json_to_recordset($4::json) as e("eventType" text, "cycleNo" integer, "cycleTo" integer, data text)`,
  parameters: ['bigint', 'bigint', 'double precision', 'json'],
});

/** Inserts events. Their first pushes are sent in the order of the list. The trigger `queue_events` queues them. */
export async function insertEvents(
  tx: Queryable,
  order: Order,
  at: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(INSERT_EVENTS, [order.channelId, order.orderNo, at, JSON.stringify(events)]);
}
