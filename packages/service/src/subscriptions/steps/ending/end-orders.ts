import type { Queryable } from '../../../platform/db/database.js';
import { type Order, type Payment, unstartedPayment } from '../../domain/orders/order.js';
import { findOrderTransition, type UnsubscribeSource } from '../../domain/orders/order-states.js';
import { findPaymentTransition } from '../../domain/payments/payment-states.js';
import { cancelUnusedAgreement } from '../../store/agreements/cancel-unused-sql.js';
import {
  type NewEvent,
  orderChangedEvent,
  paymentChangedEvent,
  paymentsVoidedEvent,
} from '../../store/events/outbox.js';
import {
  findLatestPayments,
  storeUnsubscribedOrders,
  type UnsubscribedRow,
} from '../../store/orders/unsubscribe-orders-sql.js';

export interface UnsubscribedBy {
  readonly source: UnsubscribeSource;
  readonly reason: string | null;
}

/** Ends an active order, and its agreement if no other order uses it. The caller holds the order's lock. */
export async function endOrder(tx: Queryable, order: Order, by: UnsubscribedBy, now: number): Promise<Order> {
  const [ended] = await endOrders(tx, [order], by, now);
  if (!ended) return order;
  if (order.agreementId !== null) await cancelUnusedAgreement(tx, order.agreementId, order.orderNo);
  return ended;
}

/** Orders per statement. The events of so many orders take about a megabyte. */
const ORDERS_PER_STATEMENT = 500;

/**
 * Ends active orders with their open and future periods, and stores the events, in the caller's transaction. The caller
 * holds the orders' locks, and ends their agreements itself. Debits in flight are settled later by their own outcome.
 * Returns only the orders that this call has ended.
 */
export async function endOrders(
  tx: Queryable,
  orders: readonly Order[],
  by: UnsubscribedBy,
  now: number,
): Promise<Order[]> {
  const all: Order[] = [];
  for (let from = 0; from < orders.length; from += ORDERS_PER_STATEMENT) {
    const rows = await planEndings(tx, orders.slice(from, from + ORDERS_PER_STATEMENT), now);
    if (rows.length > 0) await storeUnsubscribedOrders(tx, rows, by, now);
    all.push(...rows.map(({ order }) => order));
  }
  return all;
}

/**
 * Returns the rows that ending these orders would store. Omits orders in UNSUBSCRIBED or TERMINATED, because they have
 * already ended. Throws if an order is COMPLETED or INITIALIZING. Writes nothing.
 */
export async function planEndings(db: Queryable, orders: readonly Order[], now: number): Promise<UnsubscribedRow[]> {
  const ending = orders.flatMap((order) => {
    const row = findOrderTransition(order.status, 'unsubscribe');
    if (!row) throw new Error(`order ${order.orderNo} is ${order.status} and cannot be unsubscribed`);
    return row.to === order.status ? [] : [{ order, to: row.to, emitsEvent: row.emitsEvent }];
  });
  const waiting = ending.filter(({ order }) => findVoidingTransition(order.latestPaymentStatus) !== undefined);
  const latest = await findLatestPayments(
    db,
    waiting.map(({ order }) => order),
  );
  return ending.map(({ order: before, to, emitsEvent }) => {
    const open = latest.get(before.orderNo);
    const next = open && findVoidingTransition(open.status);
    const payment = open && next ? { ...open, status: next.to } : undefined;
    const order: Order = {
      ...before,
      status: to,
      unsubscribedAt: now,
      nextDueAt: null,
      latestPaymentStatus: payment?.status ?? before.latestPaymentStatus,
    };
    return {
      order,
      payment,
      events: emitsEvent ? [orderChangedEvent(order)] : [],
      voidedEvents: createVoidedEvents(order, payment),
    };
  });
}

const findVoidingTransition = (status: Payment['status'] | null) =>
  status === null ? undefined : findPaymentTransition(status, 'unsubscribe');

function createVoidedEvents(order: Order, payment: Payment | undefined): NewEvent[] {
  const events = payment ? [paymentChangedEvent(order, payment)] : [];
  if (order.cycleNo === order.totalCycles) return events;
  return [...events, paymentsVoidedEvent(order, unstartedPayment(order, order.cycleNo + 1, 'CANCELED'))];
}
