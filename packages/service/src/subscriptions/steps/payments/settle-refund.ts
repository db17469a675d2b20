import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlert } from '../../../alerts/alerts-sql.js';
import type { RefundOutcome } from '../../../gateways/gateway.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import { formatRefundNo, type RefundReference } from '../../domain/orders/refund-numbers.js';
import { findPaymentTransition } from '../../domain/payments/payment-states.js';
import { insertEvents, type NewEvent, paymentChangedEvent } from '../../store/events/outbox.js';
import { findPayments, lockOrderByNumber, storeOrder, storePayment } from '../../store/orders/orders-sql.js';
import { closeRefund, findRefund, findRefundsOfPeriod, type Refund } from '../../store/payments/refunds-sql.js';
import { type RefundedSum, revokeBenefits } from '../benefits/revoke-benefits.js';
import { sumRefunds } from './begin-refund.js';

export type FinalRefundOutcome = Extract<RefundOutcome, { kind: 'success' | 'refused' }>;

export interface SettledRefund {
  readonly refund: Refund;
  readonly payment: Payment;
  /** False if the refund was already settled. The other fields are then unchanged. */
  readonly changed: boolean;
}

/**
 * Stores the outcome of a refund. The operator's command, the sandbox's refund endpoint and the job may all call this
 * for one refund. Takes the order's row lock, so that a second caller finds the refund settled and leaves it unchanged.
 */
export async function settleRefund(
  tx: Queryable,
  reference: RefundReference,
  outcome: FinalRefundOutcome,
  now: number,
): Promise<SettledRefund> {
  const order = await lockOrderByNumber(tx, reference.orderNo);
  // Reads after the lock was granted, because its previous holder may have settled the refund.
  const refund = await findRefund(tx, reference);
  const payments = await findPayments(tx, reference.orderNo);
  const payment = payments.find((one) => one.cycleNo === reference.cycleNo);
  if (!order || !refund || !payment) throw new Error(`refund ${formatRefundNo(reference)} has no period`);
  const status = outcome.kind === 'success' ? 'SUCCESS' : 'FAIL';
  if (refund.status !== 'STARTED') {
    if (refund.status !== status) {
      const detail = alertText('refund-contradiction', refund.status, status);
      await raiseAlert(tx, 'refund-contradiction', formatRefundNo(refund), detail);
    }
    return { refund, payment, changed: false };
  }
  if (outcome.kind === 'refused') {
    const { reason } = outcome;
    await closeRefund(tx, { ...reference, status, reason, at: now });
    await raiseAlert(tx, 'refund-refused', formatRefundNo(refund), reason);
    return { refund: { ...refund, status, reason }, payment, changed: true };
  }
  const { refundedAt, institutionRef = null } = outcome;
  await closeRefund(tx, { ...reference, status, refundedAt, institutionRef, at: now });
  const after = applyRefund(order, payment, refund, refundedAt, await findRefundsOfPeriod(tx, reference));
  await storePayment(tx, { orderNo: order.orderNo, ...after.payment });
  await storeOrder(tx, after.order);
  await revokeBenefits(tx, reference, after.refunded);
  await insertEvents(tx, after.order, now, after.events);
  return { refund: { ...refund, status, refundedAt, institutionRef }, payment: after.payment, changed: true };
}

/** An order and its period after a refund. */
export interface AppliedRefund {
  readonly order: Order;
  readonly payment: Payment;
  /** The sum of the period's refunds so far, by which `revokeBenefits` chooses the benefits to revoke. */
  readonly refunded: RefundedSum;
  readonly events: readonly NewEvent[];
}

/**
 * Returns the order and its period after a refund. Reads and writes nothing. Paid amounts do not change. `refunds` are
 * those of the period.
 */
export function applyRefund(
  order: Order,
  payment: Payment,
  refund: RefundReference & Pick<Refund, 'amountCent' | 'keepBenefits'>,
  at: number,
  refunds: readonly Refund[],
): AppliedRefund {
  const refundAmountCent = payment.refundAmountCent + refund.amountCent;
  const inFull = refundAmountCent === payment.amountCent;
  const row = findPaymentTransition(payment.status, inFull ? 'refunded-in-full' : 'refunded-in-part');
  if (!row || refundAmountCent > payment.amountCent) {
    throw new Error(`refund ${formatRefundNo(refund)} does not go with a period that is ${payment.status}`);
  }
  // Refunds that keep the benefits do not count towards the benefits that are revoked.
  const keptCent = [
    ...refunds.filter(({ refundSeq, status }) => refundSeq !== refund.refundSeq && status === 'SUCCESS'),
    refund,
  ]
    .filter(({ keepBenefits }) => keepBenefits)
    .reduce((sum, { amountCent }) => sum + amountCent, 0);
  const isLatest = payment.cycleNo === order.cycleNo;
  const after = {
    payment: {
      ...payment,
      status: row.to,
      refundAmountCent,
      // The time of the latest refund, even if an earlier refund is settled after it.
      refundAt: Math.max(at, payment.refundAt ?? 0),
    },
    order: {
      ...order,
      refundAmountCent: order.refundAmountCent + refund.amountCent,
      latestPaymentStatus: isLatest ? row.to : order.latestPaymentStatus,
    },
  };
  return {
    ...after,
    refunded: {
      // The status does not count refunds that were made outside the service, but the user has their money too.
      inFull: refundAmountCent + sumRefunds({ payment, refunds }).outsideCent >= payment.amountCent,
      sumCent: refundAmountCent - keptCent,
    },
    events: row.emitsEvent ? [paymentChangedEvent(after.order, after.payment)] : [],
  };
}
