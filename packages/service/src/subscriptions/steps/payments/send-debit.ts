import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlertOnChange } from '../../../alerts/alerts-sql.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { DebitOutcome, DebitRequest, Gateway } from '../../../gateways/gateway.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Origin } from '../../../platform/tracing.js';
import { formatAttemptNo } from '../../domain/orders/order-numbers.js';
import { withinDeadline } from '../../domain/payments/deadline.js';
import { DEBIT_DEADLINE_MS } from '../../domain/payments/debit-policy.js';
import type { Attempt } from '../../store/payments/attempts-sql.js';

/** Creates the request to the institution for an attempt, on behalf of the channel. */
export function createDebitRequest(
  attempt: Attempt,
  { appId }: Channel,
  institutionNo: string,
  origin?: Origin,
): DebitRequest {
  return {
    appId,
    origin,
    attemptNo: formatAttemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo),
    institutionNo,
    amountCent: attempt.amountCent,
    orderNo: String(attempt.orderNo),
    cycleNo: attempt.cycleNo,
    externalOrderNo: attempt.externalOrderNo,
    startedAt: attempt.startedAt,
  };
}

/** Sends a debit. After any error the outcome is unknown: the institution may have debited. */
export async function sendDebit(
  gateway: Gateway,
  request: DebitRequest,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<DebitOutcome> {
  return withinDeadline(async () => gateway.debit(request), deadlineMs);
}

/**
 * Queries a debit at the institution. If the institution does not know the attempt number, sends the debit again with
 * the same number, unless `onUnseen` decides otherwise. This is safe even if the first request arrives late, because
 * the attempt number is the idempotency key.
 */
export async function askDebit(
  gateway: Gateway,
  request: DebitRequest,
  deadlineMs = DEBIT_DEADLINE_MS,
  onUnseen: () => Promise<DebitOutcome | 'send'> = async () => 'send',
): Promise<DebitOutcome> {
  const answer = await withinDeadline(async () => gateway.queryDebit(request), deadlineMs);
  if (answer.kind !== 'not-found') return answer;
  const instead = await onUnseen();
  return instead === 'send' ? sendDebit(gateway, request, deadlineMs) : instead;
}

/** If the institution reports a success with a wrong amount, returns `unknown` and raises an alert. */
export async function rejectWrongAmount(db: Queryable, attempt: Attempt, outcome: DebitOutcome): Promise<DebitOutcome> {
  if (outcome.kind !== 'success' || outcome.amountCent === attempt.amountCent) return outcome;
  const number = formatAttemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo);
  const detail = alertText('debit-wrong-amount', attempt.amountCent, outcome.amountCent);
  await raiseAlertOnChange(db, 'debit-wrong-amount', number, detail);
  return { kind: 'unknown' };
}
