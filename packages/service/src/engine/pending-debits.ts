import type { Logger } from 'pino';
import { institutionNoOf } from '../agreements/institution.js';
import type { ChannelRegistry } from '../channels/registry.js';
import type { Clock } from '../clock.js';
import type { Database } from '../db/database.js';
import type { Gateways } from '../gateways/registry.js';
import { attemptNo } from '../orders/numbers.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import { type Attempt, askAgainIn, claimAttemptsToAsk } from '../payments/attempts-sql.js';
import { askDebit, debitRequest, trusted } from '../payments/debit.js';
import { ALERT_AFTER_MS, nextAskSeconds } from '../payments/policy.js';
import { settle } from '../payments/settle.js';

export interface PendingDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly clock: Clock;
  readonly log: Logger;
}

const BATCH = 64;
/** Longer than asking and debiting again can take together. */
const LEASE_SECONDS = 30;

/**
 * Finishes what was begun: attempts whose outcome nobody has heard, from a crash, a lost answer or an institution that
 * takes its time. Each is asked about until it is known; no other attempt is ever made instead.
 */
export async function askAboutPendingDebits(deps: PendingDeps): Promise<number> {
  const claimed = await claimAttemptsToAsk(deps.database, BATCH, LEASE_SECONDS);
  await Promise.all(
    claimed.map(async (attempt) => {
      try {
        await ask(deps, attempt);
      } catch (err) {
        // Its turn comes again when the lease is over.
        deps.log.warn({ err, attemptNo: numberOf(attempt) }, 'asking about a debit failed');
        await alertIfOld(deps, attempt, 'cannot be asked about').catch(() => undefined);
      }
    }),
  );
  return claimed.length;
}

async function ask({ database, channels, gateways, clock }: PendingDeps, attempt: Attempt): Promise<void> {
  const channel = await channels.byId(attempt.channelId);
  const institutionNo = await institutionNoOf(database, channel, attempt.agreementId);
  const gateway = await gateways.of(attempt.paymentChannelCode);
  const outcome = await trusted(database, attempt, await askDebit(gateway, debitRequest(attempt, institutionNo)));
  if (outcome.kind === 'success' || outcome.kind === 'declined') {
    await database.transaction((tx) => settle(tx, attempt, outcome, clock.now()));
    return;
  }
  const now = clock.now();
  // A time that has passed was a guess: from then on the usual schedule counts.
  const named = outcome.kind === 'pending' ? (outcome.askAt ?? 0) - now : 0;
  await askAgainIn(database, attempt, named > 0 ? named / 1000 : nextAskSeconds(attempt.asked));
  await alertIfOld({ database, clock }, attempt, `still ${outcome.kind}`);
}

async function alertIfOld(
  { database, clock }: Pick<PendingDeps, 'database' | 'clock'>,
  attempt: Attempt,
  detail: string,
): Promise<void> {
  if (clock.now() - attempt.startedAt <= ALERT_AFTER_MS) return;
  await raiseAlert(database, 'debit-unknown-for-a-day', numberOf(attempt), detail);
}

const numberOf = (attempt: Attempt) => attemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo);
