import type { Queryable } from '../../../platform/db/database.js';
import { type PeriodToRefund, sumRefunds } from '../../../subscriptions/steps/payments/begin-refund.js';
import type { OperatorWithClock } from '../../operator.js';
import { sumRefundsAlone } from './second-person-sql.js';

/** Limits above which a refund needs a second operator. 0: no limit. */
export interface RefundLimits {
  /** The sum of the refunds of one period. */
  readonly refundApprovalCent: number;
  /** The sum of the refunds that one operator makes alone in 24 hours. */
  readonly refundDailyCent: number;
  /** True if the operator may only request refunds, so that each refund needs a second operator. Unset: false. */
  readonly mayOnlyAsk?: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Returns true if a refund needs a second operator, because it exceeds a limit. Earlier refunds of the period count, so
 * splitting a refund does not avoid the approval. Refunds that the operator made alone in the last 24 hours count
 * towards the daily limit. A caller that makes the refund must hold `lockRefundsOf`.
 */
export async function needsSecondPerson(
  db: Queryable,
  { actor, clock }: OperatorWithClock,
  period: Pick<PeriodToRefund, 'payment' | 'refunds'>,
  amountCent: number,
  { refundApprovalCent, refundDailyCent, mayOnlyAsk = false }: RefundLimits,
): Promise<boolean> {
  if (mayOnlyAsk) return true;
  if (refundApprovalCent > 0 && sumRefunds(period).refundedCent + amountCent > refundApprovalCent) return true;
  if (refundDailyCent === 0) return false;
  return (await sumRefundsAlone(db, actor, clock.now() - DAY_MS)) + amountCent > refundDailyCent;
}
