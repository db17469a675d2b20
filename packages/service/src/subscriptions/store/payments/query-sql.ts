import type { ClaimRecord } from '@perennial/wire';
import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { epochMs } from '../../../platform/db/time-sql.js';

export interface ClaimsOfPeriod {
  readonly usedCent: number;
  readonly claims: readonly (Omit<ClaimRecord, 'claimedAt'> & { readonly claimedAt: number })[];
}

const FIND_CLAIMS_OF_PERIOD = statement({
  text: `select claim_no as "claimNo", benefit_code as "benefitCode", name as "benefitName",
       face_value_cent as "faceValueCent", ${epochMs('claimed_at')} as "claimedAt"
     from benefits where order_no = $1 and cycle_no = $2 and status = 'CLAIMED' order by claimed_at, position`,
  parameters: ['bigint', 'integer'],
  columns: columns<ClaimsOfPeriod['claims'][number]>({
    claimNo: 'text',
    benefitCode: 'text',
    benefitName: 'text',
    faceValueCent: 'bigint',
    claimedAt: 'bigint',
  }),
});

/** What of a period was redeemed. */
export async function findClaimsOfPeriod(db: Queryable, orderNo: number, cycleNo: number): Promise<ClaimsOfPeriod> {
  const claims = await db.query(FIND_CLAIMS_OF_PERIOD, [orderNo, cycleNo]);
  return { claims, usedCent: claims.reduce((sum, claim) => sum + claim.faceValueCent, 0) };
}
