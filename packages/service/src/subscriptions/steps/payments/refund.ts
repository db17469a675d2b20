import type { RefundOutcome, RefundRequest } from '../../../gateways/gateway.js';
import type { Gateways } from '../../../gateways/registry.js';
import { raiseAlertOnChange } from '../../../platform/alerts/alerts-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import { attemptNo } from '../../domain/orders/numbers.js';
import { withinDeadline } from '../../domain/payments/deadline.js';
import { DEBIT_DEADLINE_MS } from '../../domain/payments/policy.js';
import { refundNo } from '../../domain/payments/refund-numbers.js';
import type { Refund } from '../../store/payments/refunds-sql.js';

/** Asks for it for the first time. Whatever goes wrong on the way, the institution may have acted. */
export async function sendRefund(
  gateways: Gateways,
  refund: Refund,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<RefundOutcome> {
  return withinDeadline(
    async () => (await gateways.of(refund.paymentChannelCode)).refund(requestOf(refund)),
    deadlineMs,
  );
}

/** Asks what became of it. An institution that has never seen the number is sent the same number again. */
export async function askRefund(
  gateways: Gateways,
  refund: Refund,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<RefundOutcome> {
  const answer = await withinDeadline(
    async () =>
      (await gateways.of(refund.paymentChannelCode)).queryRefund({ appId: refund.appId, refundNo: refundNo(refund) }),
    deadlineMs,
  );
  return answer.kind === 'not-found' ? sendRefund(gateways, refund, deadlineMs) : answer;
}

/** A refund over another amount is none that we asked for: it settles nothing, and somebody has to look. */
export async function rejectWrongRefund(db: Queryable, refund: Refund, outcome: RefundOutcome): Promise<RefundOutcome> {
  if (outcome.kind !== 'success' || outcome.amountCent === refund.amountCent) return outcome;
  const detail = `asked for ${refund.amountCent}, refunded ${outcome.amountCent}`;
  await raiseAlertOnChange(db, 'refund-wrong-amount', refundNo(refund), detail);
  return { kind: 'unknown' };
}

function requestOf(refund: Refund): RefundRequest {
  return {
    appId: refund.appId,
    refundNo: refundNo(refund),
    attemptNo: attemptNo(refund.orderNo, refund.cycleNo, refund.tryNo),
    amountCent: refund.amountCent,
  };
}
