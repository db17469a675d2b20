import type { Queryable } from '../../../platform/db/database.js';
import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';
import type { OperatorWithClock } from '../../operator.js';
import { sumRefundsAlone } from './second-person-sql.js';

/** Limits above which a refund needs a second operator. 0: no limit. */
export interface RefundLimits {
  /** The refunds of one period. */
  readonly refundApprovalCent: number;
  /** The refunds that one person makes alone in 24 hours. */
  readonly refundDailyCent: number;
}

const DAY_MS = 86_400_000;

/**
 * Returns true if a refund exceeds a limit: together with the period's earlier refunds, so that splitting it does not
 * help, or with those that the operator has made alone. The caller holds the lock of the operator's refunds if it makes
 * one.
 */
export async function needsSecondPerson(
  db: Queryable,
  { actor, clock }: OperatorWithClock,
  period: Pick<PeriodToRefund, 'payment' | 'refunds'>,
  amountCent: number,
  { refundApprovalCent, refundDailyCent }: RefundLimits,
): Promise<boolean> {
  if (refundApprovalCent > 0 && sumRefunds(period).refundedCent + amountCent > refundApprovalCent) return true;
  if (refundDailyCent === 0) return false;
  return (await sumRefundsAlone(db, actor, clock.now() - DAY_MS)) + amountCent > refundDailyCent;
}
