import { BusyError, OperatorError, type OperatorWithGateways } from '../operator.js';
import { refundPayment } from '../orders/refunds.js';
import type { KeptResult } from '../result-texts.js';
import { type Approval, findUnfinishedApprovals, storeResult } from './approvals-sql.js';
import { parsePeriodSubject } from './subjects.js';

/**
 * Does what was approved, in the name of who decided, and writes down what came of it. The key that it was asked for with makes
 * it one refund, however often and by whomever it is carried out.
 */
export async function carryOut(operator: OperatorWithGateways, approval: Approval): Promise<Approval> {
  const { approvalId, decidedBy } = approval;
  if (approval.status !== 'APPROVED' || approval.result !== null || decidedBy === null) return approval;
  const result = await refundApproved({ ...operator, actor: decidedBy }, approval);
  return storeResult(operator.database, approvalId, result);
}

/** The refund's number, or why there is none. */
async function refundApproved(
  operator: OperatorWithGateways,
  { approvalId, subject, amountCent, key, note, requestedBy }: Approval,
): Promise<KeptResult> {
  const period = parsePeriodSubject(subject);
  if (!period) throw new Error(`approval ${approvalId} is about ${subject}, which is no period`);
  try {
    const { refundNo } = await refundPayment(operator, {
      orderNo: String(period.orderNo),
      cycleNo: period.cycleNo,
      amountCent,
      key,
      note,
      approval: { approvalId: String(approvalId), requestedBy },
    });
    return { result: refundNo, refusal: null };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { result: `not refunded: ${error.message}`, refusal: error.refusal ?? null };
  }
}

/** Whether a step has said no, for good. One with a cause was done in part, and is found out about later. */
export function isRefusal(error: unknown): error is OperatorError {
  return error instanceof OperatorError && !(error instanceof BusyError) && error.cause === undefined;
}

/** Longer than carrying one out takes. */
const UNFINISHED_AFTER_SECONDS = 30;
const APPROVALS_PER_TURN = 20;

/**
 * Carries out what was approved by somebody whose process ended before it was done. Returns how many. One that fails again is
 * left for the next turn and delays no other: `onFailure` hears of it.
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
