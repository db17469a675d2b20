import type { Channel } from '../../../catalog/channels/channel.js';
import type { DebitOutcome, DebitRequest, Gateway } from '../../../gateways/gateway.js';
import { raiseAlertOnChange } from '../../../platform/alerts/alerts-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Origin } from '../../../platform/tracing.js';
import { attemptNo } from '../../domain/orders/numbers.js';
import { withinDeadline } from '../../domain/payments/deadline.js';
import { DEBIT_DEADLINE_MS } from '../../domain/payments/policy.js';
import type { Attempt } from '../../store/payments/attempts-sql.js';

/** What an attempt says to the institution, on behalf of its channel. */
export function debitRequest(
  attempt: Attempt,
  { appId }: Channel,
  institutionNo: string,
  origin?: Origin,
): DebitRequest {
  return {
    appId,
    origin,
    attemptNo: attemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo),
    institutionNo,
    amountCent: attempt.amountCent,
    orderNo: String(attempt.orderNo),
    cycleNo: attempt.cycleNo,
    externalOrderNo: attempt.externalOrderNo,
    startedAt: attempt.startedAt,
  };
}

/** Calls for the first time. Whatever goes wrong on the way, the institution may have acted. */
export async function sendDebit(
  gateway: Gateway,
  request: DebitRequest,
  deadlineMs = DEBIT_DEADLINE_MS,
): Promise<DebitOutcome> {
  return withinDeadline(async () => gateway.debit(request), deadlineMs);
}

/**
 * Asks what became of it. An institution that has never seen the number is sent the same number again, which is safe
 * however late the first one may still arrive; or `unseen` says what else becomes of it.
 */
export async function askDebit(
  gateway: Gateway,
  request: DebitRequest,
  deadlineMs = DEBIT_DEADLINE_MS,
  unseen: () => Promise<DebitOutcome | 'send'> = async () => 'send',
): Promise<DebitOutcome> {
  const answer = await withinDeadline(async () => gateway.queryDebit(request), deadlineMs);
  if (answer.kind !== 'not-found') return answer;
  const instead = await unseen();
  return instead === 'send' ? sendDebit(gateway, request, deadlineMs) : instead;
}

/** A success over another amount is no success that we asked for: it settles nothing, and somebody has to look. */
export async function rejectWrongAmount(db: Queryable, attempt: Attempt, outcome: DebitOutcome): Promise<DebitOutcome> {
  if (outcome.kind !== 'success' || outcome.amountCent === attempt.amountCent) return outcome;
  const number = attemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo);
  const detail = `asked for ${attempt.amountCent}, debited ${outcome.amountCent}`;
  await raiseAlertOnChange(db, 'debit-wrong-amount', number, detail);
  return { kind: 'unknown' };
}
