import { alertText } from '../../alerts/alert-wordings.js';
import { formatRefundNo } from '../../subscriptions/domain/orders/refund-numbers.js';
import { nextAskSeconds } from '../../subscriptions/domain/payments/debit-policy.js';
import { askRefund, rejectWrongRefundAmount } from '../../subscriptions/steps/payments/send-refund.js';
import { settleRefund } from '../../subscriptions/steps/payments/settle-refund.js';
import {
  leaseRefundsToAsk,
  type Refund,
  scheduleRefundQuestion,
} from '../../subscriptions/store/payments/refunds-sql.js';
import type { JobDeps } from '../job-deps.js';
import { alertIfOverdue } from './alert-if-overdue.js';
import { recoverAllDue } from './recover.js';

export type PendingRefundDeps = Pick<JobDeps, 'database' | 'gateways' | 'clock' | 'log' | 'stopping'>;

/** Longer than a query and a resend together can take. */
const LEASE_SECONDS = 30;

/**
 * Asks the institution about refunds that have no known outcome. Takes the refunds of one payment channel, or of all.
 * Asks again until the refund has an outcome.
 */
export async function askAboutPendingRefunds(deps: PendingRefundDeps, paymentChannelCode?: string): Promise<number> {
  return recoverAllDue(
    {
      lease: (limit) => leaseRefundsToAsk(deps.database, limit, LEASE_SECONDS, paymentChannelCode),
      finish: (refund) => askAboutRefund(deps, refund),
      async onFailure(refund, err) {
        deps.log.warn({ err, refundNo: formatRefundNo(refund) }, 'querying a refund failed; it will be retried');
        await alertIfRefundOverdue(deps, refund, alertText('refund-unknown-for-a-day|not-settled')).catch(
          () => undefined,
        );
      },
    },
    deps.stopping,
  );
}

async function askAboutRefund({ database, gateways, clock }: PendingRefundDeps, refund: Refund): Promise<void> {
  const outcome = await rejectWrongRefundAmount(database, refund, await askRefund(gateways, refund));
  if (outcome.kind === 'success' || outcome.kind === 'refused') {
    await database.transaction((tx) => settleRefund(tx, refund, outcome, clock.now()));
    return;
  }
  await scheduleRefundQuestion(database, refund, nextAskSeconds(refund.asked));
  await alertIfRefundOverdue({ database, clock }, refund, alertText('refund-unknown-for-a-day', outcome.kind));
}

const alertIfRefundOverdue = (deps: Pick<PendingRefundDeps, 'database' | 'clock'>, refund: Refund, detail: string) =>
  alertIfOverdue(deps, 'refund-unknown-for-a-day', { number: formatRefundNo(refund), since: refund.startedAt }, detail);
