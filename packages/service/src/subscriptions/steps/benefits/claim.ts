import type { Logger } from 'pino';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { ClaimToFulfil, Supplier } from '../../../fulfilment/fulfilment.js';
import type { Fulfilments } from '../../../fulfilment/registry.js';
import { raiseAlert } from '../../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable, Transactional } from '../../../platform/db/database.js';
import { BACKGROUND_CALLER, type Caller } from '../../../platform/db/sharing/caller.js';
import type { BusinessCounts, CountedClaim } from '../../../platform/metrics/counts.js';
import type { Origin } from '../../../platform/tracing.js';
import { sealCode } from '../../domain/benefits/claim-code.js';
import { type BenefitReference, claimNoOf } from '../../domain/benefits/claim-numbers.js';
import { FIRST_ASK_SECONDS } from '../../domain/payments/policy.js';
import { claimBenefit, findBenefitStatus, insertClaim } from '../../store/benefits/claims-sql.js';
import { settleClaim, wholeSeconds } from './claim-supplier.js';

export type ClaimOutcome = 'CLAIMED' | 'CLAIMED_BEFORE' | 'REVOKED' | 'EXPIRED' | 'UNKNOWN';

/**
 * Returns when the claim is committed and, for a supplier, when that has answered or its deadline has passed. Whether the
 * code is there then is for `claims` to say.
 */
export type Claimer = (
  database: Transactional,
  channel: Channel,
  benefit: BenefitReference,
  asking?: Asking,
) => Promise<ClaimOutcome>;

/** Who asks, if somebody does who waits for it. */
export interface Asking {
  readonly origin?: Origin;
  readonly caller?: Caller | undefined;
}

export interface ClaimDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly fulfilments: Fulfilments;
  readonly counts?: BusinessCounts;
}

export function claimer(deps: ClaimDeps): Claimer {
  const { clock, log, counts } = deps;
  /** Calls to suppliers by claim number: who presses twice waits for the same call. */
  const underWay = new Map<string, Promise<void>>();

  async function call(
    database: Transactional,
    channel: Channel,
    benefit: BenefitReference,
    { supplier, claim }: ToCall,
  ): Promise<void> {
    let counted: CountedClaim = 'waiting';
    try {
      const outcome = await supplier.fulfil(claim);
      await settleClaim({ database, clock }, channel, benefit, outcome);
      if (outcome.kind === 'fulfilled') counted = 'fulfilled';
    } catch (err) {
      const { claimNo, origin } = claim;
      // The claim stands, and the supplier is asked about it.
      log.warn({ err, requestId: origin?.requestId, claimNo }, 'the answer about a claim could not be stored');
    } finally {
      counts?.countClaim(counted);
      underWay.delete(claim.claimNo);
    }
  }

  return async (database, channel, benefit, { origin, caller = BACKGROUND_CALLER } = {}) => {
    const claimed = await database.transaction((tx) => claimIn(tx, deps, channel, benefit));
    if ('supplier' in claimed) {
      const toCall = origin ? { ...claimed, claim: { ...claimed.claim, origin } } : claimed;
      underWay.set(claimed.claim.claimNo, call(database, channel, benefit, toCall));
    } else counts?.countClaim(claimed.counted);
    await caller.waitOutside(async () => underWay.get(claimNoOf(benefit)));
    return 'supplier' in claimed ? 'CLAIMED' : claimed.outcome;
  };
}

/** A claim that is to be sent to its supplier once it is committed. */
interface ToCall {
  readonly supplier: Supplier;
  readonly claim: ClaimToFulfil;
}

/** A claim that nothing is left to be done about. */
interface Concluded {
  readonly outcome: ClaimOutcome;
  readonly counted: CountedClaim;
}

async function claimIn(
  tx: Queryable,
  { clock, fulfilments }: ClaimDeps,
  channel: Channel,
  benefit: BenefitReference,
): Promise<ToCall | Concluded> {
  const { channelId } = channel;
  const { orderNo, cycleNo } = benefit;
  const claimNo = claimNoOf(benefit);
  const claimedAt = wholeSeconds(clock);
  const claimed = await claimBenefit(tx, channelId, benefit, claimNo, claimedAt);
  if (!claimed) return refusal(tx, channelId, benefit);
  const { benefitCode, faceValueCent } = claimed;
  const claim = { claimNo, benefitCode, faceValueCent, orderNo, cycleNo };
  const fulfilment = await fulfilments.of(tx, benefitCode);
  const code = fulfilment.kind === 'SUPPLIER' ? undefined : await fulfilment.code(tx, claim);
  await insertClaim(tx, {
    ...benefit,
    channelId,
    benefitCode,
    fulfilment: fulfilment.kind,
    code: code === undefined ? undefined : sealCode(channel, claimNo, code),
    claimedAt,
    // Until then it belongs to the node that calls.
    askAfterSeconds: fulfilment.kind === 'SUPPLIER' ? FIRST_ASK_SECONDS : undefined,
  });
  if (fulfilment.kind === 'SUPPLIER') return { supplier: fulfilment, claim };
  if (code !== undefined) return { outcome: 'CLAIMED', counted: 'fulfilled' };
  await raiseAlert(tx, 'pool-empty', benefitCode, 'claims wait for codes to be imported');
  return { outcome: 'CLAIMED', counted: 'waiting' };
}

/** Why there was nothing to claim. One that is still ISSUED has passed its time, and nobody has marked it yet. */
async function refusal(tx: Queryable, channelId: number, benefit: BenefitReference): Promise<Concluded> {
  const status = await findBenefitStatus(tx, channelId, benefit);
  if (status === 'CLAIMED') return { outcome: 'CLAIMED_BEFORE', counted: 'repeated' };
  if (status === undefined) return { outcome: 'UNKNOWN', counted: 'gone' };
  return { outcome: status === 'REVOKED' ? 'REVOKED' : 'EXPIRED', counted: 'gone' };
}
