import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';

/**
 * Returns true if a refund exceeds the limit together with the period's earlier refunds, so that splitting it does not
 * help. A limit of 0 requires no second operator.
 */
export function needsSecondPerson(
  period: Pick<PeriodToRefund, 'payment' | 'refunds'>,
  amountCent: number,
  approvalCent: number,
): boolean {
  return approvalCent > 0 && sumRefunds(period).refundedCent + amountCent > approvalCent;
}
