import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlertOnChange } from '../../../alerts/alerts-sql.js';
import type { RefundOutcome, RefundRequest } from '../../../gateways/gateway.js';
import type { Gateways } from '../../../gateways/gateway-registry.js';
import type { Queryable } from '../../../platform/db/database.js';
import { formatAttemptNo } from '../../domain/orders/order-numbers.js';
import { formatRefundNo } from '../../domain/orders/refund-numbers.js';
import { withinDeadline } from '../../domain/payments/deadline.js';
import { DEBIT_DEADLINE_MS } from '../../domain/payments/debit-policy.js';
import type { Refund } from '../../store/payments/refunds-sql.js';

/** Sends a refund. After any error the outcome is unknown: the institution may have refunded. */
export async function sendRefund(
  gateways: Gateways,
  refund: Refund,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<RefundOutcome> {
  return withinDeadline(
    async () => (await gateways.of(refund.paymentChannelCode)).refund(createRefundRequest(refund)),
    deadlineMs,
  );
}

/**
 * Queries a refund at the institution. If the institution does not know the refund number, sends the refund again with
 * the same number.
 */
export async function askRefund(
  gateways: Gateways,
  refund: Refund,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<RefundOutcome> {
  const answer = await withinDeadline(
    async () =>
      (await gateways.of(refund.paymentChannelCode)).queryRefund({
        appId: refund.appId,
        refundNo: formatRefundNo(refund),
      }),
    deadlineMs,
  );
  return answer.kind === 'not-found' ? sendRefund(gateways, refund, deadlineMs) : answer;
}

/** If the institution reports a success with a wrong amount, returns `unknown` and raises an alert. */
export async function rejectWrongRefundAmount(
  db: Queryable,
  refund: Refund,
  outcome: RefundOutcome,
): Promise<RefundOutcome> {
  if (outcome.kind !== 'success' || outcome.amountCent === refund.amountCent) return outcome;
  const detail = alertText('refund-wrong-amount', refund.amountCent, outcome.amountCent);
  await raiseAlertOnChange(db, 'refund-wrong-amount', formatRefundNo(refund), detail);
  return { kind: 'unknown' };
}

function createRefundRequest(refund: Refund): RefundRequest {
  return {
    appId: refund.appId,
    refundNo: formatRefundNo(refund),
    attemptNo: formatAttemptNo(refund.orderNo, refund.cycleNo, refund.tryNo),
    amountCent: refund.amountCent,
  };
}
