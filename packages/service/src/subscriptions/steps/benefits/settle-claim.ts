import { raiseAlertOnce } from '../../../alerts/alerts-sql.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { SupplierOutcome } from '../../../fulfilment/fulfilment.js';
import { REFUSED_ASK_SECONDS } from '../../../fulfilment/supplier-policy.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable } from '../../../platform/db/database.js';
import { sealClaimCode } from '../../domain/benefits/claim-code.js';
import { type ClaimReference, formatClaimNo } from '../../domain/benefits/claim-numbers.js';
import { scheduleClaimQuestion, storeClaimCodes } from '../../store/benefits/claims-sql.js';

/** Stores a supplier's answer to a claim. Stores nothing if the outcome is unknown. */
export async function settleClaim(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  channel: Pick<Channel, 'sealing'>,
  claim: ClaimReference,
  outcome: SupplierOutcome,
): Promise<void> {
  const claimNo = formatClaimNo(claim);
  if (outcome.kind === 'fulfilled') {
    await storeClaimCodes(
      database,
      [{ ...claim, ...sealClaimCode(channel, claimNo, outcome.code) }],
      nowInWholeSeconds(clock),
    );
  } else if (outcome.kind === 'refused') {
    await scheduleClaimQuestion(database, claim, REFUSED_ASK_SECONDS);
    // Does not repeat the alert, because the job sends the claim again every hour, and the supplier may refuse it each
    // time.
    await raiseAlertOnce(database, 'claim-refused', claimNo, outcome.reason);
  }
}

/** Returns the current time without milliseconds, because times in the API have whole seconds. */
export function nowInWholeSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000) * 1000;
}
