import { alertText } from '../../alerts/alert-wordings.js';
import type { ClaimToFulfil, Supplier, SupplierOutcome } from '../../fulfilment/fulfilment.js';
import { SUPPLIER_DEADLINE_MS } from '../../fulfilment/supplier-policy.js';
import { formatClaimNo, formatCodeNo } from '../../subscriptions/domain/benefits/claim-numbers.js';
import { nextAskSeconds } from '../../subscriptions/domain/payments/debit-policy.js';
import { servePoolClaims } from '../../subscriptions/steps/benefits/serve-pool-claims.js';
import { nowInWholeSeconds, settleClaim } from '../../subscriptions/steps/benefits/settle-claim.js';
import {
  findBenefitsToServe,
  leaseClaimsToAsk,
  scheduleClaimQuestion,
  type WaitingClaim,
} from '../../subscriptions/store/benefits/claims-sql.js';
import type { JobDeps } from '../job-deps.js';
import { alertIfOverdue } from './alert-if-overdue.js';
import { recoverAllDue } from './recover.js';

export type PendingClaimDeps = Pick<JobDeps, 'database' | 'channels' | 'fulfilments' | 'clock' | 'log' | 'stopping'>;

/** Longer than a query and a resend together can take. */
const LEASE_SECONDS = (2 * SUPPLIER_DEADLINE_MS) / 1000 + 2;

/** Queries the supplier of one benefit about claims without a code, until each claim has a code. */
export async function askAboutPendingClaims(deps: PendingClaimDeps, benefitCode: string): Promise<number> {
  return recoverAllDue(
    {
      lease: (limit) => leaseClaimsToAsk(deps.database, benefitCode, limit, LEASE_SECONDS),
      finish: (claim) => askAboutClaim(deps, claim),
      async onFailure(claim, err) {
        deps.log.warn({ err, claimNo: formatClaimNo(claim) }, 'querying a claim failed; it will be retried');
        await alertIfClaimOverdue(deps, claim, alertText('claim-unknown-for-a-day|not-asked')).catch(() => undefined);
      },
    },
    deps.stopping,
  );
}

async function askAboutClaim(deps: PendingClaimDeps, claim: WaitingClaim): Promise<void> {
  const channel = await deps.channels.getById(claim.channelId);
  const supplier = await deps.fulfilments.supplierOf(claim.benefitCode);
  const outcome = await askOrSendAgain(supplier, {
    ...claim,
    claimNo: formatCodeNo(claim),
    ...(claim.replaced > 0 ? { replaces: formatCodeNo({ ...claim, replaced: claim.replaced - 1 }) } : {}),
  });
  await settleClaim(deps, channel, claim, outcome);
  if (outcome.kind !== 'unknown') return;
  await scheduleClaimQuestion(deps.database, claim, nextAskSeconds(claim.asked));
  await alertIfClaimOverdue(deps, claim, alertText('claim-unknown-for-a-day'));
}

/**
 * Asks the supplier about a claim. Resends the claim with the same number if the supplier does not know it or has
 * refused it.
 */
async function askOrSendAgain(supplier: Supplier, claim: ClaimToFulfil): Promise<SupplierOutcome> {
  const known = await supplier.query(claim);
  return known.kind === 'never-heard' || known.kind === 'refused' ? supplier.fulfil(claim) : known;
}

const alertIfClaimOverdue = (deps: Pick<PendingClaimDeps, 'database' | 'clock'>, claim: WaitingClaim, detail: string) =>
  alertIfOverdue(deps, 'claim-unknown-for-a-day', { number: formatClaimNo(claim), since: claim.waitsSince }, detail);

/**
 * Serves claims that wait although the pool has codes, for example a claim that was made while an import was being
 * committed. The import itself serves the claims that were waiting when it began.
 */
export async function serveWaitingClaims(deps: Pick<JobDeps, 'database' | 'vault' | 'clock'>): Promise<number> {
  const { database, vault, clock } = deps;
  let served = 0;
  for (const benefitCode of await findBenefitsToServe(database)) {
    served += await database.transaction((tx) => servePoolClaims(tx, vault, benefitCode, nowInWholeSeconds(clock)));
  }
  return served;
}
