import type { Queryable } from '../../platform/db/database.js';
import { formatRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { recordAudit } from '../audit/audit.js';
import {
  BusyError,
  inTransaction,
  OperatorError,
  type OperatorWithClock,
  type OperatorWithGateways,
} from '../operator.js';
import { parsePeriodSubject } from '../orders/refunds/period-subjects.js';
import { beginRefund, lockPeriodToRefund, type RefundInput, refundPayment } from '../orders/refunds/refunds.js';
import { type Approval, findApproval, findUnfinishedApprovals, type Outcome, storeResult } from './approvals-sql.js';

/**
 * Carries out an approved refund in the name of its approver, and stores the result. The idempotency key ensures a
 * single refund, however often this function runs.
 */
export async function carryOut(operator: OperatorWithGateways, approval: Approval): Promise<Approval> {
  const { approvalId, decidedBy } = approval;
  if (approval.status !== 'APPROVED' || approval.result !== null || decidedBy === null) return approval;
  const outcome = await refundApproved({ ...operator, actor: decidedBy }, approval);
  const stored = await inTransaction(operator, async (tx) => {
    const changed = await storeResult(tx, approvalId, outcome);
    if (changed?.status === 'FAILED') {
      const { subject, amountCent, requestedBy } = changed;
      const period = parsePeriodSubject(subject);
      const detail = { approvalId: String(approvalId), cycleNo: period?.cycleNo, amountCent, requestedBy };
      await recordAudit(tx, {
        actor: decidedBy,
        action: 'approval.fail',
        subject: String(period?.orderNo),
        detail: { ...detail, reason: outcome.result, from: approval.status, to: changed.status },
      });
    }
    return changed;
  });
  return stored ?? (await findApproval(operator.database, approvalId)) ?? approval;
}

/** Returns the refund's number, or the reason why the refund was refused. */
async function refundApproved(operator: OperatorWithGateways, approval: Approval): Promise<Outcome> {
  try {
    const { refundNo } = await refundPayment(operator, toRefundInput(approval));
    return { status: 'APPROVED', result: refundNo, refusal: null };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { status: 'FAILED', result: `not refunded: ${error.message}`, refusal: error.refusal ?? null };
  }
}

function toRefundInput({ approvalId, subject, requestedBy, ...approval }: Approval): RefundInput {
  const period = parsePeriodSubject(subject);
  if (!period) throw new Error(`approval ${approvalId} is about ${subject}, which is no period`);
  const { amountCent, key, note, keepBenefits, outside } = approval;
  return {
    ...{ orderNo: String(period.orderNo), cycleNo: period.cycleNo, amountCent, key, note, keepBenefits, outside },
    approval: { approvalId: String(approvalId), requestedBy },
  };
}

/** Records an approved refund that was made outside the service, in the decision's transaction. Returns its number. */
export async function recordApproved(operator: OperatorWithClock, tx: Queryable, approval: Approval): Promise<string> {
  const asked = toRefundInput(approval);
  return formatRefundNo((await beginRefund(operator, tx, await lockPeriodToRefund(tx, asked), asked)).refund);
}

/**
 * Returns true if the step refused the action finally. False for an error with a cause: the action was begun, and its
 * result becomes known later.
 */
export function isRefusal(error: unknown): error is OperatorError {
  return error instanceof OperatorError && !(error instanceof BusyError) && error.cause === undefined;
}

/**
 * `finishApprovals` carries out an approved refund that has no result after this time. The time is longer than a refund
 * usually takes, so that a process which is still making the refund is not disturbed.
 */
const UNFINISHED_AFTER_SECONDS = 30;
const APPROVALS_PER_TURN = 20;

/**
 * Carries out approved refunds that a dead process left undone, and returns their number. Reports a failure to
 * `onFailure` and continues with the next refund. The next call retries the failed refund.
 */
export async function finishApprovals(
  operator: OperatorWithGateways,
  onFailure: (approvalId: number, error: unknown) => void,
  stopping: () => boolean = () => false,
  afterSeconds = UNFINISHED_AFTER_SECONDS,
): Promise<number> {
  let finished = 0;
  for (const approval of await findUnfinishedApprovals(operator.database, afterSeconds, APPROVALS_PER_TURN)) {
    if (stopping()) break;
    try {
      await carryOut(operator, approval);
      finished += 1;
    } catch (error) {
      onFailure(approval.approvalId, error);
    }
  }
  return finished;
}
