import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/registry.js';
import type { ClaimToFulfil, Supplier, SupplierOutcome } from '../../fulfilment/fulfilment.js';
import { SUPPLIER_DEADLINE_MS } from '../../fulfilment/policy.js';
import type { Fulfilments } from '../../fulfilment/registry.js';
import { raiseAlertOnce } from '../../platform/alerts/raise-sql.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { claimNoOf } from '../../subscriptions/domain/benefits/claim-numbers.js';
import { ALERT_AFTER_MS, nextAskSeconds } from '../../subscriptions/domain/payments/policy.js';
import { settleClaim, wholeSeconds } from '../../subscriptions/steps/benefits/claim-supplier.js';
import { serveWaiting } from '../../subscriptions/steps/benefits/claim-waiting.js';
import {
  askAboutClaimIn,
  benefitsToServe,
  takeClaimsToAsk,
  type WaitingClaim,
} from '../../subscriptions/store/benefits/claims-sql.js';

export interface PendingClaimsDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly fulfilments: Fulfilments;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stopping?: () => boolean;
}

const BATCH = 64;
/** Longer than asking and sending again can take together. */
const LEASE_SECONDS = (2 * SUPPLIER_DEADLINE_MS) / 1000 + 2;

/** Finishes claims of one benefit whose supplier has not given the code yet: each is asked about until it has. */
export async function askAboutPendingClaims(deps: PendingClaimsDeps, benefitCode: string): Promise<number> {
  let asked = 0;
  while (deps.stopping?.() !== true) {
    const claims = await takeClaimsToAsk(deps.database, benefitCode, BATCH, LEASE_SECONDS);
    await Promise.all(claims.map((claim) => finish(deps, claim)));
    asked += claims.length;
    if (claims.length < BATCH) break;
  }
  return asked;
}

async function finish(deps: PendingClaimsDeps, claim: WaitingClaim): Promise<void> {
  const { database, channels, fulfilments, log } = deps;
  try {
    const channel = await channels.byId(claim.channelId);
    const supplier = await fulfilments.supplierOf(claim.benefitCode);
    const outcome = await outcomeOf(supplier, { ...claim, claimNo: claimNoOf(claim) });
    await settleClaim(deps, channel, claim, outcome);
    if (outcome.kind !== 'unknown') return;
    await askAboutClaimIn(database, claim, nextAskSeconds(claim.asked));
    await alertIfOld(deps, claim, 'the supplier has not said what became of it');
  } catch (err) {
    // Its turn comes again when the lease is over.
    log.warn({ err, claimNo: claimNoOf(claim) }, 'asking about a claim failed');
    await alertIfOld(deps, claim, 'the supplier cannot be asked').catch(() => undefined);
  }
}

/** What the supplier does not have, or did not want, it is asked for again with the same number. */
async function outcomeOf(supplier: Supplier, claim: ClaimToFulfil): Promise<SupplierOutcome> {
  const known = await supplier.query(claim);
  return known.kind === 'never-heard' || known.kind === 'refused' ? supplier.fulfil(claim) : known;
}

async function alertIfOld(
  { database, clock }: Pick<PendingClaimsDeps, 'database' | 'clock'>,
  claim: WaitingClaim,
  detail: string,
): Promise<void> {
  if (clock.now() - claim.claimedAt <= ALERT_AFTER_MS) return;
  await raiseAlertOnce(database, 'claim-unknown-for-a-day', claimNoOf(claim), detail);
}

/**
 * Claims that wait for a pool with codes in it: one that was made while an import was being committed, for example. An
 * import itself serves what waits when it begins.
 */
export async function serveWaitingClaims({
  database,
  vault,
  clock,
}: Pick<PendingClaimsDeps, 'database' | 'clock'> & { readonly vault: Vault }): Promise<number> {
  let served = 0;
  for (const benefitCode of await benefitsToServe(database)) {
    served += await database.transaction((tx) => serveWaiting(tx, vault, benefitCode, wholeSeconds(clock)));
  }
  return served;
}
