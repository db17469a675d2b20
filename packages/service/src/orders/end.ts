import { cancelUnusedAgreement } from '../agreements/cancel-sql.js';
import type { Channel } from '../channels/channel.js';
import type { Queryable } from '../db/database.js';
import { emit, type NewEvent, orderChanged, paymentChanged, paymentsVoided } from '../events/outbox.js';
import { paymentAfter } from '../payments/states.js';
import { derivedPayment, type Order, type Payment } from './order.js';
import { findPayments, storeOrder, storePayment } from './sql.js';
import { orderAfter, type UnsubscribeSource } from './states.js';
import { noteUnsubscribe } from './unsubscribe-sql.js';

export interface Ended {
  readonly order: Order;
  readonly payments: readonly Payment[];
}

/**
 * Ends an active order, whoever asked: the order under its row lock, its open period and those not started, its agreement
 * and the events about all of it, in the caller's transaction. A debit on the way is settled by its own result.
 */
export async function endOrder(
  tx: Queryable,
  channel: Pick<Channel, 'voidedPeriodEvents'>,
  order: Order,
  by: { readonly source: UnsubscribeSource; readonly reason: string | null },
  now: number,
): Promise<Ended> {
  const row = orderAfter(order.status, 'unsubscribe');
  if (!row) throw new Error(`order ${order.orderNo} is ${order.status} and cannot be unsubscribed`);
  const started = await findPayments(tx, order.orderNo);
  if (row.to === order.status) return { order, payments: started };

  const voided = started.flatMap((payment) => {
    const next = paymentAfter(payment.status, 'unsubscribe');
    return next ? [{ ...payment, status: next.to }] : [];
  });
  const ended: Order = {
    ...order,
    status: row.to,
    unsubscribedAt: now,
    nextDueAt: null,
    latestPaymentStatus: voided.at(-1)?.status ?? order.latestPaymentStatus,
  };
  for (const payment of voided) await storePayment(tx, order.orderNo, payment);
  await storeOrder(tx, ended);
  await noteUnsubscribe(tx, order.orderNo, by.source, by.reason);
  if (order.agreementId !== null) await cancelUnusedAgreement(tx, order.agreementId, { exceptOrderNo: order.orderNo });
  await emit(tx, ended, now, [orderChanged(ended), ...(channel.voidedPeriodEvents ? voidedEvents(ended, voided) : [])]);
  const payments = started.map((payment) => voided.find((one) => one.cycleNo === payment.cycleNo) ?? payment);
  return { order: ended, payments };
}

function voidedEvents(order: Order, voided: readonly Payment[]): NewEvent[] {
  const events = voided.map((payment) => paymentChanged(order, payment));
  if (order.cycleNo === order.totalCycles) return events;
  return [...events, paymentsVoided(order, derivedPayment(order, order.cycleNo + 1, 'CANCELED'))];
}
