import type { Static } from '@perennial/wire';
import { parseRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { recordAudit } from '../audit/audit.js';
import { formatAmount } from '../money.js';
import { inTransaction, OperatorError, type OperatorWithGateways, refusal } from '../operator.js';
import { unsubscribeLocked } from '../orders/orders.js';
import { formatPeriodSubject } from '../orders/refunds/period-subjects.js';
import {
  beginRefund,
  createOtherOptions,
  findRefundOfKey,
  finishRefund,
  lockPeriodToRefund,
  type RefundedPeriod,
  type RefundInput,
  requireKeepable,
  requireRefund,
  requireRefundableAmount,
  wouldEnd,
} from '../orders/refunds/refunds.js';
import { needsSecondPerson, type RefundLimits } from '../orders/refunds/second-person.js';
import { lockRefundsOf } from '../orders/refunds/second-person-sql.js';
import { findWaitingOf, requireAskableAmount } from '../orders/refunds/waiting-refunds.js';
import { quoted, requireName } from '../rules.js';
import type { refundAnswer } from '../schemas/orders.js';
import { type Approval, findApprovalOfRequest, insertApproval } from './approvals-sql.js';
import { carryOut } from './carry-out.js';

/** A refund that was made, or that waits for a second operator. */
type RequestedRefund = Static<typeof refundAnswer>;
/** The input of a refund request, which must have an idempotency key and a reason. */
type RefundRequestInput = RefundInput & { readonly key: string; readonly note: string };

/**
 * Refunds immediately, or requests an approval if the amount exceeds a limit or the operator may only request refunds.
 * A repeated call with the same idempotency key returns the same refund or request.
 */
export async function requestRefund(
  operator: OperatorWithGateways,
  input: RefundRequestInput,
  limits: RefundLimits,
): Promise<RequestedRefund> {
  const asked = {
    ...requireRefund(input),
    key: requireName('the key', input.key),
    note: requireName('the note', input.note),
  };
  // Checks the amount and begins the refund under one lock, so that concurrent refunds count each other's amounts.
  const judged = await inTransaction(operator, async (tx) => {
    const period = await lockPeriodToRefund(tx, asked);
    if (findRefundOfKey(period, asked, operator.currency))
      return { begun: await beginRefund(operator, tx, period, asked) };
    const { orderNo } = period.order;
    const subject = formatPeriodSubject(orderNo, asked.cycleNo);
    await lockRefundsOf(tx, operator.actor);
    const waiting = await findApprovalOfRequest(tx, 'REFUND', subject, asked.key);
    if (waiting) {
      if (wouldEnd(period.order, asked.unsubscribe)) throw createOtherOptions(asked.key);
      return { approval: requireNotRefused(requireSameRequest(waiting, asked, operator.currency)), changed: false };
    }
    const amountCent = requireAskableAmount(
      period,
      asked.amountCent,
      await findWaitingOf(tx, period),
      operator.currency,
    );
    requireKeepable(period, amountCent, asked);
    if (!(await needsSecondPerson(tx, operator, period, amountCent, limits))) {
      return { begun: await beginRefund(operator, tx, period, { ...asked, amountCent }) };
    }
    const { actor } = operator;
    // Ends the order only after the last lock that may be waited for, because the audit entry locks the end of the log.
    if (asked.unsubscribe) await unsubscribeLocked(tx, operator, period.order, asked.note);
    const { key, note, cycleNo, keepBenefits = false, outside = false } = asked;
    const approval = await insertApproval(tx, {
      ...{ kind: 'REFUND', subject, key, amountCent, note, keepBenefits, outside, requestedBy: actor },
      // Support must be able to inform the user, and does not see the refund otherwise.
      tellsApproval: limits.mayOnlyAsk === true,
    });
    const options = { ...(keepBenefits ? { keepBenefits } : {}), ...(outside ? { outside } : {}) };
    const detail = { approvalId: String(approval.approvalId), cycleNo, amountCent, key, note, ...options };
    await recordAudit(tx, { actor, action: 'approval.request', subject: String(orderNo), detail });
    return { approval, changed: true };
  });
  if (judged.approval) return answerApproval(operator, judged, () => requestRefund(operator, input, limits));
  const refunded = await finishRefund(operator, judged.begun);
  return {
    status: refunded.status === 'FAIL' ? 'STARTED' : refunded.status,
    refundNo: refunded.refundNo,
    approvalId: null,
    amountCent: refunded.amountCent,
    paymentStatus: refunded.payment.paymentStatus,
    changed: refunded.changed,
  };
}

/**
 * Refunds without asking a second operator, as the command line does. Throws if the refund needs an approval, or if
 * refunds that wait for approval leave too little money. If `withoutApproval` gives a reason, does not throw in these
 * two cases, and the audit log then stores the reason.
 */
export async function refundAlone(
  operator: OperatorWithGateways,
  input: RefundInput,
  { refundApprovalCent, refundDailyCent }: RefundLimits,
): Promise<RefundedPeriod> {
  const limits = { refundApprovalCent, refundDailyCent };
  const { withoutApproval, ...asked } = requireRefund(input);
  const begun = await inTransaction(operator, async (tx) => {
    const period = await lockPeriodToRefund(tx, asked);
    if (findRefundOfKey(period, asked, operator.currency)) return beginRefund(operator, tx, period, asked);
    const waiting = await findWaitingOf(tx, period);
    await lockRefundsOf(tx, operator.actor);
    if (withoutApproval !== undefined) {
      const amountCent = requireRefundableAmount(period, asked.amountCent, operator.currency);
      const isNeeded = waiting.length > 0 || (await needsSecondPerson(tx, operator, period, amountCent, limits));
      return beginRefund(operator, tx, period, { ...asked, withoutApproval: isNeeded ? withoutApproval : undefined });
    }
    const amountCent = requireAskableAmount(period, asked.amountCent, waiting, operator.currency);
    if (await needsSecondPerson(tx, operator, period, amountCent, { ...limits, refundDailyCent: 0 })) {
      throw refusal(
        'refund-needs-approval',
      )`refunds above ${formatAmount(refundApprovalCent, operator.currency)} of one period (CONSOLE_REFUND_APPROVAL_CENT) need a second operator: request it in the console, or give a reason with --without-approval, which the audit log keeps`;
    }
    if (await needsSecondPerson(tx, operator, period, amountCent, { ...limits, refundApprovalCent: 0 })) {
      throw refusal(
        'refunds-of-day-need-approval',
      )`refunds above ${formatAmount(refundDailyCent, operator.currency)} of one operator in 24 hours (CONSOLE_REFUND_DAILY_CENT) need a second operator: request it in the console, or give a reason with --without-approval, which the audit log keeps`;
    }
    return beginRefund(operator, tx, period, { ...asked, amountCent });
  });
  return finishRefund(operator, begun);
}

function requireSameRequest(
  approval: Approval,
  { amountCent, key, keepBenefits = false, outside = false }: RefundRequestInput,
  currency: string | undefined,
): Approval {
  if (keepBenefits !== approval.keepBenefits || outside !== approval.outside) throw createOtherOptions(key);
  if (amountCent === undefined || amountCent === approval.amountCent) return approval;
  throw refusal(
    'refund-key-asked',
  )`the key ${quoted(key)} was already used to request a refund of ${formatAmount(approval.amountCent, currency)}`;
}

/** Throws if the request was declined or withdrawn, or if the approved refund was not made. */
function requireNotRefused(approval: Approval): Approval {
  const { status, decidedBy, result } = approval;
  if (status === 'DECLINED') throw refusal('refund-declined')`${decidedBy} has declined this refund`;
  if (status === 'WITHDRAWN') throw refusal('refund-withdrawn')`${decidedBy} has withdrawn the request for this refund`;
  if (status === 'FAILED') {
    throw refusal('refund-not-made')`${decidedBy} has approved this refund, but it was ${result}`;
  }
  return approval;
}

/**
 * Answers a refund request that has an approval. While the approval waits, answers with the approval. Later, answers
 * with the refund. If the approver's process died before it made the refund, makes the refund now. Throws if the
 * refund is not made.
 */
async function answerApproval(
  operator: OperatorWithGateways,
  { approval, changed }: { readonly approval: Approval; readonly changed: boolean },
  refundAgain: () => Promise<RequestedRefund>,
): Promise<RequestedRefund> {
  const { approvalId, amountCent, status } = approval;
  if (status === 'WAITING') {
    return { status, refundNo: null, approvalId: String(approvalId), amountCent, paymentStatus: null, changed };
  }
  const { result } = requireNotRefused(await carryOut(operator, approval));
  if (result === null || parseRefundNo(result) === undefined) throw new OperatorError(result ?? 'not known yet');
  return refundAgain();
}
