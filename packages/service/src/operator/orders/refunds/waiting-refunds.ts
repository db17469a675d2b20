import type { Queryable } from '../../../platform/db/database.js';
import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';
import { formatAmount } from '../../money.js';
import { refusal } from '../../operator.js';
import { formatPeriodSubject } from './period-subjects.js';
import { requireRefundableAmount } from './refunds.js';
import { findWaitingRefunds, type WaitingRefund } from './waiting-refunds-sql.js';

/** Returns a period's requested refunds that have not been made. */
export async function findWaitingOf(
  db: Queryable,
  { order, payment, refunds }: PeriodToRefund,
): Promise<WaitingRefund[]> {
  const waiting = await findWaitingRefunds(db, [formatPeriodSubject(order.orderNo, payment.cycleNo)]);
  // Skips a request whose refund has begun, because `refunds` already includes that refund.
  return waiting.filter(({ key }) => refunds.every((refund) => refund.key !== key));
}

export const sumWaiting = (waiting: readonly Pick<WaitingRefund, 'amountCent'>[]): number =>
  waiting.reduce((sum, { amountCent }) => sum + amountCent, 0);

/**
 * Returns the amount to request: the given amount, or all that is left if no amount is given. Waiting refunds reduce
 * the amount that is left, so that the same money is not requested twice.
 */
export function requireAskableAmount(
  period: PeriodToRefund,
  askedCent: number | undefined,
  waiting: readonly WaitingRefund[],
  currency: string | undefined,
): number {
  const refundableCent = requireRefundableAmount(period, askedCent, currency);
  if (waiting.length === 0) return refundableCent;
  const leftCent = Math.max(0, sumRefunds(period).leftCent - sumWaiting(waiting));
  const amountCent = askedCent ?? leftCent;
  if (leftCent > 0 && amountCent <= leftCent) return amountCent;
  const names = [...new Set(waiting.map(({ requestedBy }) => requestedBy))].join(', ');
  const { cycleNo } = period.payment;
  throw refusal(
    'refund-waits-already',
  )`period ${cycleNo} of order ${period.order.orderNo} has ${formatAmount(leftCent, currency)} left to request: ${formatAmount(sumWaiting(waiting), currency)} requested by ${names} is waiting`;
}
