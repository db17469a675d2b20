import type { Queryable } from '../../platform/db/database.js';
import {
  findPaymentOfCycle,
  formatTimeOrNull,
  type Order,
  type Payment,
} from '../../subscriptions/domain/orders/order.js';
import { parseOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { isWaitingForRetry } from '../../subscriptions/domain/payments/payment-states.js';
import { endOrder } from '../../subscriptions/steps/ending/end-orders.js';
import { findPayments, lockOrderByNumber } from '../../subscriptions/store/orders/orders-sql.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, NotFoundError, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { createNotFound, requireInteger, requireName } from '../rules.js';
import { makeDueNow } from './orders-sql.js';

/** Unsubscribes an order, with the same effects and events as if its channel had done it. */
export async function unsubscribeOrder(
  operator: OperatorWithClock,
  input: { readonly orderNo: string; readonly reason?: string },
) {
  const reason = input.reason === undefined ? null : requireName('the reason', input.reason);
  return inTransaction(operator, async (tx) => {
    const order = await requireLockedOrder(tx, input.orderNo);
    const ended = await unsubscribeLocked(tx, operator, order, reason);
    return {
      orderNo: String(order.orderNo),
      externalOrderNo: order.externalOrderNo,
      orderStatus: ended.status,
      unsubscribeTime: formatTimeOrNull(ended.unsubscribedAt),
      changed: ended.status !== order.status,
    };
  });
}

/** Ends an order that the caller has locked, and writes the audit entry. Does nothing if the order has ended before. */
export async function unsubscribeLocked(
  tx: Queryable,
  { actor, clock }: Pick<OperatorWithClock, 'actor' | 'clock'>,
  order: Order,
  reason: string | null,
): Promise<Order> {
  requireUnsubscribable(order);
  const ended = await endOrder(tx, order, { source: 'OPERATIONS', reason }, clock.now());
  if (ended.status !== order.status) {
    const detail = { reason, from: order.status, to: ended.status };
    await recordAudit(tx, { actor, action: 'order.unsubscribe', subject: String(order.orderNo), detail });
  }
  return ended;
}

/**
 * Throws if the order cannot be unsubscribed. Accepts an order that has ended with a status other than COMPLETED,
 * because nothing remains to be done.
 */
export function requireUnsubscribable({ orderNo, status }: Order): void {
  if (status === 'INITIALIZING') {
    throw refusal('order-in-first-debit')`order ${orderNo} waits for the result of its first debit; try again later`;
  }
  if (status === 'COMPLETED')
    throw refusal('order-completed')`order ${orderNo} is COMPLETED: there is nothing to unsubscribe`;
}

/** Makes the retry of a period due now. The engine then debits the period as usual. */
export async function retryPeriod(operator: Operator, input: { readonly orderNo: string; readonly cycleNo: number }) {
  const cycleNo = requireInteger('the period', input.cycleNo, 1, 9999);
  return inTransaction(operator, async (tx) => {
    const order = await requireLockedOrder(tx, input.orderNo);
    const payment = findPaymentOfCycle(order, await findPayments(tx, order.orderNo), cycleNo);
    if (!payment) throw refusal('no-such-period', NotFoundError)`order ${order.orderNo} has no period ${cycleNo}`;
    requireRetryable(order.orderNo, payment);
    const changed = await makeDueNow(tx, order.orderNo);
    if (changed) {
      const { actor } = operator;
      const detail = { cycleNo, from: formatTimeOrNull(order.nextDueAt), to: 'now' };
      await recordAudit(tx, { actor, action: 'order.retry', subject: String(order.orderNo), detail });
    }
    return { orderNo: String(order.orderNo), cycleNo, paymentStatus: payment.status, changed };
  });
}

/** Throws unless the period waits for a retry. */
export function requireRetryable(orderNo: number, { cycleNo, status }: Pick<Payment, 'cycleNo' | 'status'>): void {
  if (isWaitingForRetry(status)) return;
  throw refusal(
    'period-not-retryable',
  )`period ${cycleNo} of order ${orderNo} is ${status}: only FAIL_RETRY can be retried`;
}

/** Locks an order of any channel and returns it. Throws if there is none. */
export async function requireLockedOrder(tx: Queryable, text: string): Promise<Order> {
  const orderNo = parseOrderNo(text);
  const order = orderNo === undefined ? undefined : await lockOrderByNumber(tx, orderNo);
  if (!order) throw createNotFound('order', text);
  return order;
}
