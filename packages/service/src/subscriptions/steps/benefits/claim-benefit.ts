import type { Logger } from 'pino';
import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlert } from '../../../alerts/alerts-sql.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { ClaimToFulfil, Supplier } from '../../../fulfilment/fulfilment.js';
import type { Fulfilments } from '../../../fulfilment/fulfilment-registry.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable, Transactional } from '../../../platform/db/database.js';
import { BACKGROUND_CALLER, type Caller } from '../../../platform/db/sharing/caller.js';
import type { Origin } from '../../../platform/tracing.js';
import { sealClaimCode } from '../../domain/benefits/claim-code.js';
import { type BenefitReference, formatClaimNo } from '../../domain/benefits/claim-numbers.js';
import type { CountedClaim, SubscriptionCounts } from '../../domain/counts.js';
import { FIRST_ASK_SECONDS } from '../../domain/payments/debit-policy.js';
import { claimBenefit, findBenefitStatus, insertClaim } from '../../store/benefits/claims-sql.js';
import { nowInWholeSeconds, settleClaim } from './settle-claim.js';

export type ClaimOutcome = 'CLAIMED' | 'CLAIMED_BEFORE' | 'REVOKED' | 'EXPIRED' | 'UNKNOWN';

/**
 * Claims a benefit. Resolves after the commit and, if a supplier is called, after its answer or its deadline. The table
 * `claims` then shows whether the claim has a code.
 */
export type Claimer = (
  database: Transactional,
  channel: Channel,
  benefit: BenefitReference,
  asking?: ClaimCaller,
) => Promise<ClaimOutcome>;

/** The HTTP request in which the user claims. Without `caller`, no client waits for the answer. */
export interface ClaimCaller {
  readonly origin?: Origin;
  readonly caller?: Caller | undefined;
}

export interface ClaimDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly fulfilments: Fulfilments;
  readonly counts?: SubscriptionCounts;
}

export function createClaimer(deps: ClaimDeps): Claimer {
  const { clock, log, counts } = deps;
  /** Claims in progress on this node, by claim number. If a user clicks twice, the second request waits for the first. */
  const inProgress = new Map<string, Promise<ClaimOutcome>>();

  async function callSupplier(
    database: Transactional,
    channel: Channel,
    benefit: BenefitReference,
    { supplier, claim }: SupplierCall,
  ): Promise<void> {
    let counted: CountedClaim = 'waiting';
    try {
      const outcome = await supplier.fulfil(claim);
      await settleClaim({ database, clock }, channel, { ...benefit, replaced: 0 }, outcome);
      if (outcome.kind === 'fulfilled') counted = 'fulfilled';
    } catch (err) {
      const { claimNo, origin } = claim;
      // The claim is stored as pending, so a job queries the supplier later.
      log.warn(
        { err, requestId: origin?.requestId, claimNo },
        "supplier's answer could not be stored; the job will ask the supplier again",
      );
    } finally {
      counts?.countClaim(counted);
    }
  }

  const claim: Claimer = async (database, channel, benefit, { origin, caller = BACKGROUND_CALLER } = {}) => {
    const claimed = await database.transaction((tx) => claimInTransaction(tx, deps, channel, benefit));
    if (!('supplier' in claimed)) {
      counts?.countClaim(claimed.counted);
      return claimed.outcome;
    }
    const toCall = origin ? { ...claimed, claim: { ...claimed.claim, origin } } : claimed;
    await caller.waitOutside(() => callSupplier(database, channel, benefit, toCall));
    return 'CLAIMED';
  };

  return async (database, channel, benefit, asking) => {
    const claimNo = formatClaimNo(benefit);
    const { caller = BACKGROUND_CALLER } = asking ?? {};
    for (let other = inProgress.get(claimNo); other; other = inProgress.get(claimNo)) {
      const ended = other.catch(() => undefined);
      await caller.waitOutside(() => ended);
    }
    const claiming = claim(database, channel, benefit, asking).finally(() => inProgress.delete(claimNo));
    inProgress.set(claimNo, claiming);
    return claiming;
  };
}

/** A claim whose supplier must be called after the commit. */
interface SupplierCall {
  readonly supplier: Supplier;
  readonly claim: ClaimToFulfil;
}

/** A claim that needs no call to a supplier. */
interface ConcludedClaim {
  readonly outcome: ClaimOutcome;
  readonly counted: CountedClaim;
}

async function claimInTransaction(
  tx: Queryable,
  { clock, fulfilments }: ClaimDeps,
  channel: Channel,
  benefit: BenefitReference,
): Promise<SupplierCall | ConcludedClaim> {
  const { channelId } = channel;
  const { orderNo, cycleNo } = benefit;
  const claimNo = formatClaimNo(benefit);
  const claimedAt = nowInWholeSeconds(clock);
  const claimed = await claimBenefit(tx, { ...benefit, channelId, claimNo, at: claimedAt });
  if (!claimed) return findRefusal(tx, channelId, benefit);
  const { benefitCode, faceValueCent } = claimed;
  const claim = { claimNo, benefitCode, faceValueCent, orderNo, cycleNo };
  const fulfilment = await fulfilments.of(tx, benefitCode);
  const code = fulfilment.kind === 'SUPPLIER' ? undefined : await fulfilment.takeCode(tx, claim);
  await insertClaim(tx, {
    ...benefit,
    channelId,
    benefitCode,
    fulfilment: fulfilment.kind,
    ...(code === undefined ? { code: undefined, codeHash: undefined } : sealClaimCode(channel, claimNo, code)),
    claimedAt,
    // The job does not query the supplier before this time, because this node is calling it.
    askAfterSeconds: fulfilment.kind === 'SUPPLIER' ? FIRST_ASK_SECONDS : undefined,
  });
  if (fulfilment.kind === 'SUPPLIER') return { supplier: fulfilment, claim };
  if (code !== undefined) return { outcome: 'CLAIMED', counted: 'fulfilled' };
  await raiseAlert(tx, 'pool-empty', benefitCode, alertText('pool-empty'));
  return { outcome: 'CLAIMED', counted: 'waiting' };
}

/** Returns why the benefit could not be claimed. If it is still ISSUED, it has expired but is not marked yet. */
async function findRefusal(tx: Queryable, channelId: number, benefit: BenefitReference): Promise<ConcludedClaim> {
  const status = await findBenefitStatus(tx, { ...benefit, channelId });
  if (status === 'CLAIMED') return { outcome: 'CLAIMED_BEFORE', counted: 'repeated' };
  if (status === undefined) return { outcome: 'UNKNOWN', counted: 'gone' };
  return { outcome: status === 'REVOKED' ? 'REVOKED' : 'EXPIRED', counted: 'gone' };
}
