import type { Channel } from '../../../catalog/channels/channel.js';
import type { SupplierOutcome } from '../../../fulfilment/fulfilment.js';
import { REFUSED_ASK_SECONDS } from '../../../fulfilment/policy.js';
import { raiseAlertOnce } from '../../../platform/alerts/alerts-sql.js';
import type { Clock } from '../../../platform/clock.js';
import type { Queryable } from '../../../platform/db/database.js';
import { sealCode } from '../../domain/benefits/claim-code.js';
import { type BenefitReference, claimNoOf } from '../../domain/benefits/claim-numbers.js';
import { askAboutClaimIn, storeClaimCodes } from '../../store/benefits/claims-sql.js';

/** Writes down what a supplier has said about a claim, whoever asked. Without an outcome nothing is written. */
export async function settleClaim(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  channel: Pick<Channel, 'sealing'>,
  claim: BenefitReference,
  outcome: SupplierOutcome,
): Promise<void> {
  const claimNo = claimNoOf(claim);
  if (outcome.kind === 'fulfilled') {
    await storeClaimCodes(
      database,
      [{ ...claim, code: sealCode(channel, claimNo, outcome.code) }],
      wholeSeconds(clock),
    );
  } else if (outcome.kind === 'refused') {
    await askAboutClaimIn(database, claim, REFUSED_ASK_SECONDS);
    // Once: it is refused again every hour, and an operator who has seen it need not see it every hour.
    await raiseAlertOnce(database, 'claim-refused', claimNo, outcome.reason);
  }
}

/** Times of the interface have no fraction. */
export function wholeSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000) * 1000;
}
