import type { Logger } from 'pino';
import { askRefund, trustedRefund } from '../../api/payments-refund.js';
import type { Gateways } from '../../gateways/registry.js';
import { raiseAlertOnce } from '../../platform/alerts/raise-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import { ALERT_AFTER_MS, nextAskSeconds } from '../../subscriptions/domain/payments/policy.js';
import { refundNo } from '../../subscriptions/domain/payments/refund-numbers.js';
import { settleRefund } from '../../subscriptions/steps/payments/settle-refund.js';
import { askAboutRefundIn, claimRefundsToAsk, type Refund } from '../../subscriptions/store/payments/refunds-sql.js';

export interface PendingRefundDeps {
  readonly database: Database;
  readonly gateways: Gateways;
  readonly clock: Clock;
  readonly log: Logger;
}

const BATCH = 64;
/** Longer than asking and sending again can take together. */
const LEASE_SECONDS = 30;

/** Finishes refunds whose outcome nobody has heard: each is asked about until it is known. */
export async function askAboutPendingRefunds(deps: PendingRefundDeps): Promise<number> {
  const claimed = await claimRefundsToAsk(deps.database, BATCH, LEASE_SECONDS);
  await Promise.all(
    claimed.map(async (refund) => {
      try {
        await ask(deps, refund);
      } catch (err) {
        // Its turn comes again when the lease is over.
        deps.log.warn({ err, refundNo: refundNo(refund) }, 'asking about a refund failed');
        await alertIfOld(deps, refund, 'cannot be settled').catch(() => undefined);
      }
    }),
  );
  return claimed.length;
}

async function ask({ database, gateways, clock }: PendingRefundDeps, refund: Refund): Promise<void> {
  const outcome = await trustedRefund(database, refund, await askRefund(gateways, refund));
  if (outcome.kind === 'success' || outcome.kind === 'refused') {
    await database.transaction((tx) => settleRefund(tx, refund, outcome, clock.now()));
    return;
  }
  await askAboutRefundIn(database, refund, nextAskSeconds(refund.asked));
  await alertIfOld({ database, clock }, refund, `still ${outcome.kind}`);
}

async function alertIfOld(
  { database, clock }: Pick<PendingRefundDeps, 'database' | 'clock'>,
  refund: Refund,
  detail: string,
): Promise<void> {
  if (clock.now() - refund.startedAt <= ALERT_AFTER_MS) return;
  await raiseAlertOnce(database, 'refund-unknown-for-a-day', refundNo(refund), detail);
}
