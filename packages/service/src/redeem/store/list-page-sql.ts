import { column, columns, joinColumns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import {
  type BenefitPosition,
  benefitFields,
  type JustClaimed,
  type ShownBenefit,
  toPlaceValues,
  WITH_DETAILS,
} from './benefits-sql.js';
import { FROM_ORDER, PRODUCT, PRODUCT_COLUMNS, type RedeemOrder, withOrder } from './order-sql.js';
import { PAGE_ENTRIES } from './page-sizes.js';
import {
  type BenefitList,
  LISTED_FIELDS,
  type ListedBenefit,
  OF_RANKED,
  rankedBenefitsSql,
} from './ranked-benefits-sql.js';

/** `benefits` has one more entry than a page shows, if there are more. `done`: the benefits just claimed. */
export type RedeemList = RowOf<typeof READ_LIST> & RedeemOrder;

/**
 * SQL: the rank of the benefit that follows a benefit which has left the list. So a user who claims the first benefit
 * of a page stays on that page.
 */
const RANK_AFTER = `(select min(r.rank) from listed r, benefits f where f.order_no = $2 and f.cycle_no = $6 and f.position = $7
    and (r.first_expires_at, r.cycle_no, r.expires_at, r.position)
      > (least(f.expires_at, (select min(p.first_expires_at) from listed p where p.cycle_no = $6)), f.cycle_no, f.expires_at, f.position))`;

/** `$8`: the period just claimed. `$9`: the position of the benefit just claimed, or 0 for the whole period. */
const READ_LIST = statement({
  name: 'redeem-list',
  text: `
with listed as (select * from ${rankedBenefitsSql({ toClaim: `$5 = 'TO_CLAIM'`, claimed: `$5 = 'CLAIMED'`, past: `$5 = 'PAST'` })} r),
  start as (select coalesce((select rank from listed where cycle_no = $6 and position = $7), ${RANK_AFTER}, 1) as rank)
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(x order by x.rank) from (select ${LISTED_FIELDS} from listed r ${OF_RANKED} ${WITH_DETAILS}
    where r.rank between (select rank from start) and (select rank from start) + ${PAGE_ENTRIES}) x), '[]'::json) as benefits,
  coalesce((select json_agg(x) from (select 0 as "ofPeriod", ${benefitFields('$3')} from benefits b ${WITH_DETAILS}
    where b.order_no = $2 and b.cycle_no = $8 and $9 in (0, b.position)) x), '[]'::json) as done
${FROM_ORDER}`,
  parameters: ['bigint', 'bigint', 'text', 'double precision', 'text', 'integer', 'integer', 'integer', 'integer'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns({ benefits: column<readonly ListedBenefit[]>('json'), done: column<readonly ShownBenefit[]>('json') }),
  ),
});

interface AskedList {
  readonly list: BenefitList;
  /**
   * The first benefit to show. If a list of claimable benefits does not contain it, the page begins with the benefit
   * that follows it. In all other cases in which the benefit is not found, the page begins with the first benefit of
   * the list.
   */
  readonly from: BenefitPosition | undefined;
  readonly done: JustClaimed | undefined;
}

export async function readRedeemList(
  db: Queryable,
  channelId: number,
  orderNo: number,
  { now, lang, list, from, done }: { readonly now: number; readonly lang: string } & AskedList,
): Promise<RedeemList | undefined> {
  const values = [channelId, orderNo, lang, now, list, ...toPlaceValues(from), ...toPlaceValues(done)] as const;
  const [row] = await db.query(READ_LIST, values);
  return row && withOrder(row);
}
