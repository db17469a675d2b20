import { column, columns, joinColumns, type Queryable, statement } from '../../platform/db/database.js';
import { epochMs } from '../../platform/db/time-sql.js';
import { PAID_STATUSES } from '../../subscriptions/domain/payments/payment-states.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { type BenefitRow, benefitFields, type JustClaimed, toPlaceValues, WITH_DETAILS } from './benefits-sql.js';
import { FROM_ORDER, PRODUCT, PRODUCT_COLUMNS, type RedeemProduct } from './order-sql.js';
import { FIRST_CODES, FIRST_PAYMENTS, FIRST_TO_CLAIM } from './page-sizes.js';
import { latestPayments, type PaymentRow, type PayWith } from './payments-sql.js';
import {
  IS_PAST,
  LISTED_FIELDS,
  type ListedBenefit,
  OF_RANKED,
  rankBenefits,
  rankedBenefitsSql,
} from './ranked-benefits-sql.js';

export interface LastPaid {
  readonly at: number;
  readonly amountCent: number;
}

export interface RedeemPage extends RedeemProduct {
  /** At least the first claimable benefits, the first claimed benefits, and the benefits just claimed. */
  readonly benefits: readonly ListedBenefit[];
  /** The number of past benefits, which have expired or were revoked. */
  readonly pastCount: number;
  /** Latest period first. */
  readonly payments: readonly PaymentRow[];
  /** Null if the seller collects. */
  readonly payWith: PayWith | null;
  /** The last paid period. Read only if the latest payment is not paid. */
  readonly lastPaid: LastPaid | null;
}

/**
 * The latest payments of an order. The last paid one is nearly always among them, so it is read separately only if the
 * latest one is not paid. Each subquery that is skipped saves PostgreSQL about 3 % of a page.
 */
const PAYMENTS = `${latestPayments('true', FIRST_PAYMENTS)} as payments,
  case when o.agreement_id is not null then
    (select json_build_object('name', pc.display_name, 'cardTail', a.card_tail)
     from agreements a join payment_channels pc on pc.code = a.payment_channel_code where a.agreement_id = o.agreement_id) end
    as "payWith",
  case when not (${paymentStatusIs('o.latest_payment_status', ...PAID_STATUSES)}) then
    (select json_build_object('at', ${epochMs('p.paid_at')}, 'amountCent', p.amount_cent) from payments p
     where p.order_no = o.order_no and p.paid_at is not null order by p.cycle_no desc limit 1) end as "lastPaid"`;

const PAGE_COLUMNS = joinColumns(
  PRODUCT_COLUMNS,
  columns({
    payments: column<readonly PaymentRow[]>('json'),
    payWith: column<PayWith>('json?'),
    lastPaid: column<LastPaid>('json?'),
  }),
);

/**
 * Up to this number of benefits, the node selects the benefits to show, because that is cheaper. For more benefits,
 * PostgreSQL selects them.
 */
const MOST_AT_ONCE = 100;

/**
 * Reads the pages of several visitors in one statement. `offset 0` makes PostgreSQL look up the order of each page
 * separately. A subquery hides the lengths of the arrays from the planner, as in catalog/channels/admission-sql.ts.
 */
const READ_PAGES = statement({
  name: 'redeem-pages',
  text: `
select a.n, c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(x) from (select ${benefitFields('a.lang')}
    from (select * from benefits b where b.order_no = o.order_no limit ${MOST_AT_ONCE + 1}) b ${WITH_DETAILS}) x), '[]'::json)
    as benefits,
  ${PAYMENTS}
from (select $1::bigint[] as channel_id, $2::bigint[] as order_no, $3::text[] as lang offset 0) all_of,
  unnest(all_of.channel_id, all_of.order_no, all_of.lang) with ordinality as a(channel_id, order_no, lang, n),
  lateral (select * from channels c where c.channel_id = a.channel_id offset 0) c,
  lateral (select * from orders o where o.channel_id = a.channel_id and o.order_no = a.order_no offset 0) o`,
  parameters: ['bigint[]', 'bigint[]', 'text[]'],
  columns: joinColumns(PAGE_COLUMNS, columns({ n: 'bigint', benefits: column<readonly BenefitRow[]>('json') })),
});

/** `$5`: the period just claimed. `$6`: the position of the benefit just claimed, or 0 for the whole period. */
const READ_LARGE_PAGE = statement({
  name: 'redeem-large-page',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(x order by x.rank) from (select ${LISTED_FIELDS}
    from ${rankedBenefitsSql({ toClaim: 'true', claimed: 'true', past: 'b.cycle_no = $5' })} r ${OF_RANKED} ${WITH_DETAILS}
    where (r.list = 'TO_CLAIM' and r.rank <= ${FIRST_TO_CLAIM}) or (r.list = 'CLAIMED' and r.rank <= ${FIRST_CODES})
      or (r.cycle_no = $5 and $6 in (0, r.position))) x), '[]'::json) as benefits,
  (select count(*) from benefits b where b.order_no = $2 and ${IS_PAST}) as "pastCount",
  ${PAYMENTS}
${FROM_ORDER}`,
  parameters: ['bigint', 'bigint', 'text', 'double precision', 'integer', 'integer'],
  columns: joinColumns(
    PAGE_COLUMNS,
    columns({ benefits: column<readonly ListedBenefit[]>('json'), pastCount: 'bigint' }),
  ),
});

export interface AskedPage {
  readonly channelId: number;
  readonly orderNo: number;
  readonly lang: string;
}

/** A page as it was read. Its benefits are not sorted yet, and those of a large order are incomplete. */
export type ReadPage = Omit<RedeemPage, 'benefits' | 'pastCount'> & { readonly rows: readonly BenefitRow[] };

/** Reads all pages at one moment, in the requested order. A page is undefined if the channel lacks the order. */
export async function readRedeemPages(
  db: Queryable,
  asked: readonly AskedPage[],
): Promise<readonly (ReadPage | undefined)[]> {
  const pages = new Array<ReadPage | undefined>(asked.length).fill(undefined);
  const found = await db.query(READ_PAGES, [
    asked.map(({ channelId }) => channelId),
    asked.map(({ orderNo }) => orderNo),
    asked.map(({ lang }) => lang),
  ]);
  for (const row of found) {
    const { n, version, product, benefits: rows, payments, payWith, lastPaid } = row;
    pages[n - 1] = { version, product, rows, payments, payWith, lastPaid, order: row };
  }
  return pages;
}

/** Adds the lists of benefits to a page. Reads them from `db` if the order has many benefits. */
export async function listPageBenefits(
  db: Queryable,
  { channelId, orderNo, lang }: AskedPage,
  { rows, ...page }: ReadPage,
  { now, done }: { readonly now: number; readonly done: JustClaimed | undefined },
): Promise<RedeemPage | undefined> {
  if (rows.length <= MOST_AT_ONCE) return { ...page, ...rankBenefits(rows, now) };
  const [large] = await db.query(READ_LARGE_PAGE, [channelId, orderNo, lang, now, ...toPlaceValues(done)]);
  return large && { ...large, order: page.order };
}
