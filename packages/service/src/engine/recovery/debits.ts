import { alertText } from '../../alerts/alert-wordings.js';
import { areDebitsPaused } from '../../catalog/payment-channels/pace-sql.js';
import type { DebitOutcome } from '../../gateways/gateway.js';
import { formatAttemptNo } from '../../subscriptions/domain/orders/order-numbers.js';
import {
  askSecondsNamedBy,
  DEBIT_DEADLINE_MS,
  nextAskSeconds,
  UNSEEN_IS_FINAL_AFTER_MS,
} from '../../subscriptions/domain/payments/debit-policy.js';
import { askDebit, createDebitRequest, rejectWrongAmount } from '../../subscriptions/steps/payments/send-debit.js';
import { findInstitutionNo } from '../../subscriptions/store/agreements/find-institution-no-sql.js';
import { findUnsubscribedAt } from '../../subscriptions/store/orders/unsubscribe-orders-sql.js';
import {
  type Attempt,
  leaseAttemptsToAsk,
  scheduleDebitQuestion,
} from '../../subscriptions/store/payments/attempts-sql.js';
import type { JobDeps } from '../job-deps.js';
import { alertIfOverdue } from './alert-if-overdue.js';
import { recoverAllDue } from './recover.js';

export type PendingDebitDeps = Pick<
  JobDeps,
  'database' | 'channels' | 'gateways' | 'settle' | 'clock' | 'log' | 'stopping'
>;

/** Longer than a query and a resend together can take. After a crash another node continues within 20 s. */
const LEASE_SECONDS = (2 * DEBIT_DEADLINE_MS) / 1000 + 2;

/**
 * Asks the institution about attempts whose outcome is unknown after a crash, a lost answer or a slow institution.
 * Takes the attempts of one payment channel, or of all. Asks again until the outcome is known. Until then the period
 * gets no other attempt.
 */
export async function askAboutPendingDebits(deps: PendingDebitDeps, paymentChannelCode?: string): Promise<number> {
  return recoverAllDue(
    {
      lease: (limit) => leaseAttemptsToAsk(deps.database, limit, LEASE_SECONDS, paymentChannelCode),
      finish: (attempt) => askAboutDebit(deps, attempt),
      async onFailure(attempt, err) {
        deps.log.warn({ err, attemptNo: attemptNoOf(attempt) }, 'querying a debit failed; it will be retried');
        await alertIfDebitOverdue(deps, attempt, alertText('debit-unknown-for-a-day|not-asked')).catch(() => undefined);
      },
    },
    deps.stopping,
  );
}

async function askAboutDebit(
  { database, channels, gateways, settle, clock }: PendingDebitDeps,
  attempt: Attempt,
): Promise<void> {
  const channel = await channels.getById(attempt.channelId);
  const institutionNo = await findInstitutionNo(database, channel, attempt.agreementId);
  const gateway = await gateways.of(attempt.paymentChannelCode);
  const request = createDebitRequest(attempt, channel, institutionNo);
  const answer = await askDebit(gateway, request, undefined, () => decideUnseenDebit({ database, clock }, attempt));
  const outcome = await rejectWrongAmount(database, attempt, answer);
  if (outcome.kind === 'success' || outcome.kind === 'declined') {
    await settle({ attempt, outcome });
    return;
  }
  // If the time that the institution named has passed, the usual schedule applies.
  await scheduleDebitQuestion(
    database,
    attempt,
    askSecondsNamedBy(outcome, clock.now()) || nextAskSeconds(attempt.asked),
  );
  await alertIfDebitOverdue({ database, clock }, attempt, alertText('debit-unknown-for-a-day', outcome.kind));
}

/**
 * Decides about a debit that the institution does not know. Resends it unless the order has ended. A renewal waits while
 * its payment channel is paused. If the order has
 * ended, the debit fails as soon as the first request can certainly no longer arrive.
 */
async function decideUnseenDebit(
  { database, clock }: Pick<PendingDebitDeps, 'database' | 'clock'>,
  attempt: Attempt,
): Promise<DebitOutcome | 'send'> {
  const endedAt = await findUnsubscribedAt(database, attempt.orderNo);
  if (endedAt === null) {
    const isHeld = attempt.cycleNo > 1 && (await areDebitsPaused(database, attempt.paymentChannelCode));
    return isHeld ? { kind: 'unknown' } : 'send';
  }
  if (clock.now() - endedAt < UNSEEN_IS_FINAL_AFTER_MS) return { kind: 'unknown' };
  return { kind: 'declined', decline: 'final', reason: 'the order had ended before it was sent' };
}

const alertIfDebitOverdue = (deps: Pick<PendingDebitDeps, 'database' | 'clock'>, attempt: Attempt, detail: string) =>
  alertIfOverdue(deps, 'debit-unknown-for-a-day', { number: attemptNoOf(attempt), since: attempt.startedAt }, detail);

const attemptNoOf = (attempt: Attempt) => formatAttemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo);
