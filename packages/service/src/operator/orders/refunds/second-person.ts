import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';

/**
 * Returns true if the refund needs a second operator: together with the period's earlier refunds it exceeds the limit.
 * Splitting a refund therefore does not avoid the approval. With a limit of 0, no refund needs a second operator.
 */
export function needsSecondPerson(
  period: Pick<PeriodToRefund, 'payment' | 'refunds'>,
  amountCent: number,
  approvalCent: number,
): boolean {
  return approvalCent > 0 && sumRefunds(period).refundedCent + amountCent > approvalCent;
}
