import { epochMs, fromEpochMs } from '../../platform/db/time-sql.js';
import { type BenefitRow, benefitFields, type ShownBenefit } from './benefits-sql.js';

export type BenefitList = 'TO_CLAIM' | 'CLAIMED' | 'PAST';

/** A benefit with its list, and its rank in this list, counted from 1. */
export interface ListedBenefit extends ShownBenefit {
  readonly list: BenefitList;
  readonly rank: number;
  readonly total: number;
  /** When the last benefit of the list expires. Null for past benefits. */
  readonly lastExpiresAt: number | null;
}

const IS_TO_CLAIM = `b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$4')}`;
export const IS_PAST = `(b.status in ('EXPIRED', 'REVOKED') or b.status = 'ISSUED' and b.expires_at <= ${fromEpochMs('$4')})`;

/**
 * SQL: the benefits of the order with their list and rank. Claimable benefits are ordered by the first deadline in
 * their period, then by their own deadline. Claimed benefits are ordered by the time of the claim, latest first. Past
 * benefits are ordered by period, newest first. Each list has its own condition. Only the keys are sorted, because an
 * order may have 9,999 periods.
 */
export const rankedBenefitsSql = ({
  toClaim,
  claimed,
  past,
}: Readonly<Record<'toClaim' | 'claimed' | 'past', string>>) => `(
  select 'TO_CLAIM' as list, cycle_no, position, of_period, count(*) over () as total, max(expires_at) over () as last_expires_at,
    first_expires_at, expires_at, row_number() over (order by first_expires_at, cycle_no, expires_at, position) as rank
  from (select b.cycle_no, b.position, b.expires_at, min(b.expires_at) over period as first_expires_at,
          count(*) over period as of_period
        from benefits b where b.order_no = $2 and ${IS_TO_CLAIM} and ${toClaim} window period as (partition by b.cycle_no)) b
  union all
  select 'CLAIMED', b.cycle_no, b.position, 0, count(*) over (), max(b.expires_at) over (), null, null,
    row_number() over (order by b.claimed_at desc, b.cycle_no desc, b.position)
  from benefits b where b.order_no = $2 and b.status = 'CLAIMED' and ${claimed}
  union all
  select 'PAST', b.cycle_no, b.position, 0, count(*) over (), null, null, null, row_number() over (order by b.cycle_no desc, b.position)
  from benefits b where b.order_no = $2 and ${IS_PAST} and ${past})`;

export const LISTED_FIELDS = `r.list, r.rank, r.total, r.of_period as "ofPeriod",
  ${epochMs('r.last_expires_at')} as "lastExpiresAt", ${benefitFields('$3')}`;
export const OF_RANKED = `join benefits b on b.order_no = $2 and b.cycle_no = r.cycle_no and b.position = r.position`;

/** Returns the same lists and ranks as `rankedBenefitsSql`. A test compares them. */
export function rankBenefits(
  rows: readonly BenefitRow[],
  now: number,
): { readonly benefits: ListedBenefit[]; readonly pastCount: number } {
  const isToClaim = ({ status, expiresAt }: BenefitRow) => status === 'ISSUED' && expiresAt > now;
  const toClaim = rows.filter(isToClaim);
  const claimed = rows.filter(({ status }) => status === 'CLAIMED');
  const past = rows.filter((row) => row.status !== 'CLAIMED' && !isToClaim(row));
  const ofPeriod = new Map<number, { count: number; first: number }>();
  for (const { cycleNo, expiresAt } of toClaim) {
    const { count = 0, first = expiresAt } = ofPeriod.get(cycleNo) ?? {};
    ofPeriod.set(cycleNo, { count: count + 1, first: Math.min(first, expiresAt) });
  }
  const firstOf = ({ cycleNo }: BenefitRow) => ofPeriod.get(cycleNo)?.first ?? 0;
  toClaim.sort(
    (a, b) => firstOf(a) - firstOf(b) || a.cycleNo - b.cycleNo || a.expiresAt - b.expiresAt || a.position - b.position,
  );
  claimed.sort((a, b) => (b.claimedAt ?? 0) - (a.claimedAt ?? 0) || b.cycleNo - a.cycleNo || a.position - b.position);
  past.sort((a, b) => b.cycleNo - a.cycleNo || a.position - b.position);
  const listed = (list: BenefitList, those: readonly BenefitRow[]) => {
    const last = list === 'PAST' || those.length === 0 ? null : Math.max(...those.map(({ expiresAt }) => expiresAt));
    return those.map((row, index): ListedBenefit => {
      const { count = 0 } = ofPeriod.get(row.cycleNo) ?? {};
      // Changes the row itself, because copying took 5 % of the page's time. Nothing else uses the row.
      return Object.assign(row, { list, rank: index + 1, total: those.length, ofPeriod: count, lastExpiresAt: last });
    });
  };
  return {
    benefits: [...listed('TO_CLAIM', toClaim), ...listed('CLAIMED', claimed), ...listed('PAST', past)],
    pastCount: past.length,
  };
}
