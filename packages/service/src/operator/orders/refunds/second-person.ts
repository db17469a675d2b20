import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';

/**
 * Whether a refund needs a second person: above a limit, counted together with what was refunded of the same period before,
 * so that nobody comes by it in several parts. A limit of 0: none does.
 */
export function needsSecondPerson(
  period: Pick<PeriodToRefund, 'payment' | 'refunds'>,
  amountCent: number,
  approvalCent: number,
): boolean {
  return approvalCent > 0 && sumRefunds(period).refundedCent + amountCent > approvalCent;
}
