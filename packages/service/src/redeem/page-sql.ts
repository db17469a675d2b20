import type { PaymentStatus } from '@perennial/wire';
import { imageFile } from '../catalog/image-file-sql.js';
import {
  column,
  columns,
  declareFind,
  declareList,
  joinColumns,
  type Queryable,
  type RowOf,
  statement,
} from '../platform/db/database.js';
import { epochMs, fromEpochMs } from '../platform/db/time-sql.js';
import type { Order } from '../subscriptions/domain/orders/order.js';
import { ORDER_COLUMNS, ORDER_FIELDS } from '../subscriptions/store/orders/orders-sql.js';

/** The order and the current version of the channel. Every step of the page reads them. */
export interface RedeemOrder {
  readonly version: number;
  readonly order: Order;
}

export interface RedeemProduct extends RedeemOrder {
  /** Null if the product no longer exists. */
  readonly product: ProductNames | null;
}

interface ProductNames {
  readonly name: string;
  /** The names for the pages in each language. */
  readonly zh: string | null;
  readonly en: string | null;
}

export type BenefitList = 'TO_CLAIM' | 'CLAIMED' | 'PAST';

export interface BenefitRow {
  readonly cycleNo: number;
  readonly position: number;
  readonly name: string;
  readonly faceValueCent: number;
  readonly status: 'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED';
  readonly expiresAt: number;
  readonly claimedAt: number | null;
  /** Encrypted. Null without a claim, and while the claim waits for a code. */
  readonly code: string | null;
  /** When a page has last shown the code. */
  readonly shownAt: number | null;
  /** The number of earlier codes of the claim. */
  readonly replaced: number;
  /** The name of a file below /redeem/images. */
  readonly icon: string | null;
  readonly description: string | null;
  readonly useUrl: string | null;
}

export interface ShownBenefit extends BenefitRow {
  /** The number of claimable benefits of the same period. May be 0 if this benefit is not claimable. */
  readonly ofPeriod: number;
}

/** A benefit with its list, and its rank in this list, counted from 1. */
export interface ListedBenefit extends ShownBenefit {
  readonly list: BenefitList;
  readonly rank: number;
  readonly total: number;
  /** When the last benefit of the list expires. Null for past benefits. */
  readonly lastExpiresAt: number | null;
}

export type BenefitPosition = Pick<BenefitRow, 'cycleNo' | 'position'>;

export interface PaymentRow {
  readonly cycleNo: number;
  readonly status: PaymentStatus;
  readonly expectAt: number;
  readonly paidAt: number | null;
  readonly amountCent: number;
  /** Latest refund first. Null if the period has no refunds. */
  readonly refunds: readonly RefundRow[] | null;
  /** Null if the payment has not failed, or the service did not debit it. */
  readonly failure: FailureRow | null;
}

/** The last failed debit. Users see only the kind. */
interface FailureRow {
  readonly reason: string | null;
  /** Null if an older node settled the debit. */
  readonly declineKind: string | null;
}

/** The institution and the card that are debited. */
export interface PayWith {
  readonly name: string;
  readonly cardTail: string;
}

export interface LastPaid {
  readonly at: number;
  readonly amountCent: number;
}

interface RefundRow {
  readonly amountCent: number;
  readonly at: number;
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
  /** The last paid period. Read only if none of `payments` is paid. */
  readonly lastPaid: LastPaid | null;
}

/** `benefits` has one more entry than a page shows, if there are more. `done`: the benefits just claimed. */
export type RedeemList = RowOf<typeof READ_LIST> & RedeemOrder;
/** `payments` has one more entry than a page shows, if there are more. */
export type RedeemPayments = RowOf<typeof readRedeemPayments>;
/** The data of the page that asks for confirmation and of the page after unsubscribing. */
export type RedeemEnding = RowOf<typeof readRedeemEnding>;

/** Maximum number of entries on the page of a single list. */
export const PAGE_ENTRIES = 20;
/** Maximum numbers of entries on the main page, which shows several lists. */
export const FIRST_TO_CLAIM = 12;
export const FIRST_CODES = 4;
export const FIRST_PAYMENTS = 4;
/** The maximum number of benefits that one press of "claim everything" claims. */
const MAX_CLAIMED_TOGETHER = 200;

const PRODUCT = `(select json_build_object('name', p.product_name, 'zh', p.name_zh, 'en', p.name_en) from products p
  where p.product_code = o.product_code) as product`;
const ORDER = `from channels c join orders o on o.channel_id = c.channel_id where c.channel_id = $1 and o.order_no = $2`;

const IS_TO_CLAIM = `b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$4')}`;
const IS_PAST = `(b.status in ('EXPIRED', 'REVOKED') or b.status = 'ISSUED' and b.expires_at <= ${fromEpochMs('$4')})`;

/**
 * SQL: the benefits of the order with their list and rank. Claimable benefits are ordered by the first deadline in
 * their period, then by their own deadline. Claimed benefits are ordered by the time of the claim, latest first. Past
 * benefits are ordered by period, newest first. Each list has its own condition. Only the keys are sorted, because an
 * order may have 9,999 periods.
 */
const rankedBenefits = ({ toClaim, claimed, past }: Readonly<Record<'toClaim' | 'claimed' | 'past', string>>) => `(
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

/** `lang`: SQL that returns the language of descriptions. */
const benefitPairs = (lang: string) => `'cycleNo', b.cycle_no, 'position', b.position,
  'name', coalesce(case ${lang} when 'en' then d.name_en else d.name_zh end, b.name), 'faceValueCent', b.face_value_cent, 'status', b.status,
  'expiresAt', ${epochMs('b.expires_at')},
  'claimedAt', ${epochMs('b.claimed_at')}, 'code', k.code, 'replaced', coalesce(k.replaced, 0), 'shownAt', ${epochMs('k.last_shown_at')},
  'icon', ${imageFile('i')},
  'description', case ${lang} when 'en' then d.description_en else d.description_zh end, 'useUrl', d.use_url`;
const WITH_DETAILS = `left join claims k on k.order_no = b.order_no and k.cycle_no = b.cycle_no and k.position = b.position
  left join benefit_presentations d on d.benefit_code = b.benefit_code
  left join images i on i.image_hash = d.icon_hash`;

/** SQL: a period as JSON. Reads refunds and the reason of a failure only if the period has any. */
const PAYMENT_JSON = `json_build_object('cycleNo', p.cycle_no, 'status', p.status, 'expectAt', ${epochMs('p.expect_at')},
  'paidAt', ${epochMs('p.paid_at')}, 'amountCent', p.amount_cent,
  'failure', case when p.status in ('FAIL', 'FAIL_RETRY') then
    (select json_build_object('reason', f.reason, 'declineKind', f.decline_kind) from failed_payments f
     where f.order_no = p.order_no and f.cycle_no = p.cycle_no) end,
  'refunds', case when p.refund_amount_cent > 0 then
    (select json_agg(json_build_object('amountCent', r.amount_cent, 'at', ${epochMs('coalesce(r.refunded_at, r.settled_at)')})
       order by r.refund_seq desc)
     from refunds r where r.order_no = p.order_no and r.cycle_no = p.cycle_no and r.status = 'SUCCESS') end)`;

const LISTED_JSON = `json_build_object('list', r.list, 'rank', r.rank, 'total', r.total, 'ofPeriod', r.of_period,
  'lastExpiresAt', ${epochMs('r.last_expires_at')}, ${benefitPairs('$3')})`;
const OF_RANKED = `join benefits b on b.order_no = $2 and b.cycle_no = r.cycle_no and b.position = r.position`;

/** Adds the order to a row that has its fields. */
const withOrder = <Row extends Order>(row: Row) => ({ ...row, order: row });

const PRODUCT_COLUMNS = joinColumns(
  ORDER_COLUMNS,
  columns({ version: 'bigint', product: column<ProductNames>('json?') }),
);

/**
 * The latest payments of an order. The last paid one is nearly always among them, so it is read separately only if none
 * of them is paid. Each subquery that is skipped saves PostgreSQL about 3 % of a page.
 */
const LATEST_PAYMENTS = `lateral (
    select coalesce(json_agg(${PAYMENT_JSON}), '[]'::json) as payments, count(p.paid_at) as paid
    from (select * from payments p where p.order_no = o.order_no order by p.cycle_no desc limit ${FIRST_PAYMENTS}) p) latest`;
const PAYMENTS = `latest.payments,
  case when o.agreement_id is not null then
    (select json_build_object('name', pc.display_name, 'cardTail', a.card_tail)
     from agreements a join payment_channels pc on pc.code = a.payment_channel_code where a.agreement_id = o.agreement_id) end
    as "payWith",
  case when latest.paid = 0 then
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
  coalesce((select json_agg(json_build_object(${benefitPairs('a.lang')}))
    from (select * from benefits b where b.order_no = o.order_no limit ${MOST_AT_ONCE + 1}) b ${WITH_DETAILS}), '[]'::json)
    as benefits,
  ${PAYMENTS}
from (select $1::bigint[] as channel_id, $2::bigint[] as order_no, $3::text[] as lang offset 0) all_of,
  unnest(all_of.channel_id, all_of.order_no, all_of.lang) with ordinality as a(channel_id, order_no, lang, n),
  lateral (select * from channels c where c.channel_id = a.channel_id offset 0) c,
  lateral (select * from orders o where o.channel_id = a.channel_id and o.order_no = a.order_no offset 0) o,
  ${LATEST_PAYMENTS}`,
  parameters: ['bigint[]', 'bigint[]', 'text[]'],
  columns: joinColumns(PAGE_COLUMNS, columns({ n: 'bigint', benefits: column<readonly BenefitRow[]>('json') })),
});

/** `$5`: the period just claimed. `$6`: the position of the benefit just claimed, or 0 for the whole period. */
const READ_LARGE_PAGE = statement({
  name: 'redeem-large-page',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(${LISTED_JSON} order by r.rank)
    from ${rankedBenefits({ toClaim: 'true', claimed: 'true', past: 'b.cycle_no = $5' })} r ${OF_RANKED} ${WITH_DETAILS}
    where (r.list = 'TO_CLAIM' and r.rank <= ${FIRST_TO_CLAIM}) or (r.list = 'CLAIMED' and r.rank <= ${FIRST_CODES})
      or (r.cycle_no = $5 and $6 in (0, r.position))), '[]'::json) as benefits,
  (select count(*) from benefits b where b.order_no = $2 and ${IS_PAST}) as "pastCount",
  ${PAYMENTS}
from channels c join orders o on o.channel_id = c.channel_id, ${LATEST_PAYMENTS}
where c.channel_id = $1 and o.order_no = $2`,
  parameters: ['bigint', 'bigint', 'text', 'double precision', 'integer', 'integer'],
  columns: joinColumns(
    PAGE_COLUMNS,
    columns({ benefits: column<readonly ListedBenefit[]>('json'), pastCount: 'bigint' }),
  ),
});

/** The benefit just claimed, or the whole period if `position` is undefined. */
export interface JustClaimed {
  readonly cycleNo: number;
  readonly position: number | undefined;
}

/** Returns the values of two parameters, which are 0 if undefined. */
const toPlaceValues = (place: JustClaimed | undefined) => [place?.cycleNo ?? 0, place?.position ?? 0] as const;

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
  if (rows.length <= MOST_AT_ONCE) return { ...page, ...listBenefits(rows, now) };
  const [large] = await db.query(READ_LARGE_PAGE, [channelId, orderNo, lang, now, ...toPlaceValues(done)]);
  return large && { ...large, order: page.order };
}

/** Returns the same lists and ranks as `rankedBenefits`. A test compares them. */
function listBenefits(
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

/**
 * SQL: the rank of the benefit that follows a benefit which has left the list. So a user who claims the first benefit
 * of a page stays on that page.
 */
const RANK_AFTER = `(select min(r.rank) from listed r, benefits f where f.order_no = $2 and f.cycle_no = $6 and f.position = $7
    and (r.first_expires_at, r.cycle_no, r.expires_at, r.position)
      > (least(f.expires_at, (select min(p.first_expires_at) from listed p where p.cycle_no = $6)), f.cycle_no, f.expires_at, f.position))`;

/** `$8` and `$9` are like `$5` and `$6` of READ_LARGE_PAGE. */
const READ_LIST = statement({
  name: 'redeem-list',
  text: `
with listed as (select * from ${rankedBenefits({ toClaim: `$5 = 'TO_CLAIM'`, claimed: `$5 = 'CLAIMED'`, past: `$5 = 'PAST'` })} r),
  start as (select coalesce((select rank from listed where cycle_no = $6 and position = $7), ${RANK_AFTER}, 1) as rank)
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(${LISTED_JSON} order by r.rank) from listed r ${OF_RANKED} ${WITH_DETAILS}
    where r.rank between (select rank from start) and (select rank from start) + ${PAGE_ENTRIES}), '[]'::json) as benefits,
  coalesce((select json_agg(json_build_object('ofPeriod', 0, ${benefitPairs('$3')})) from benefits b ${WITH_DETAILS}
    where b.order_no = $2 and b.cycle_no = $8 and $9 in (0, b.position)), '[]'::json) as done
${ORDER}`,
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

export const readRedeemPayments = declareFind({
  name: 'redeem-payments',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT},
  coalesce((select json_agg(${PAYMENT_JSON})
    from (select * from payments p where p.order_no = o.order_no and p.cycle_no <= $3
          order by p.cycle_no desc limit ${PAGE_ENTRIES + 1}) p), '[]'::json) as payments
${ORDER}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: joinColumns(PRODUCT_COLUMNS, columns({ payments: column<readonly PaymentRow[]>('json') })),
  value: withOrder,
});

export const readRedeemEnding = declareFind({
  name: 'redeem-ending',
  text: `
select c.version, ${ORDER_FIELDS}, ${PRODUCT}, exists(select from channel_users u
  where u.channel_id = o.channel_id and key_of(u.channel_user_id) = key_of(o.channel_user_id)) as "hasMobile", b.to_claim as "toClaim", ${epochMs('b.last_deadline')} as "lastDeadline", b.codes, ${epochMs('b.last_expires_at')} as "lastExpiresAt"
from channels c join orders o on o.channel_id = c.channel_id,
  lateral (select count(*) filter (where b.is_open) as to_claim, max(b.expires_at) filter (where b.is_open) as last_deadline,
      count(*) filter (where not b.is_open) as codes, max(b.expires_at) as last_expires_at
    from (select b.expires_at, b.status = 'ISSUED' as is_open from benefits b where b.order_no = o.order_no
      and (b.status = 'CLAIMED' or b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$3')})) b) b
where c.channel_id = $1 and o.order_no = $2`,
  parameters: ['bigint', 'bigint', 'double precision'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns({
      /** True if the user can confirm with the digits of the login mobile. */
      hasMobile: 'boolean',
      toClaim: 'bigint',
      /** The deadline of the last claimable benefit. */
      lastDeadline: 'bigint?',
      codes: 'bigint',
      /** When the last of the claimable and claimed benefits expires. */
      lastExpiresAt: 'bigint?',
    }),
  ),
  value: withOrder,
});

export const readRedeemOrder = declareFind({
  name: 'redeem-order',
  text: `select c.version, ${ORDER_FIELDS} ${ORDER}`,
  parameters: ['bigint', 'bigint'],
  columns: joinColumns(ORDER_COLUMNS, columns({ version: 'bigint' })),
  value: withOrder,
});

export const listClaimableOfPeriod = declareList({
  text: `select cycle_no as "cycleNo", position from benefits
     where channel_id = $1 and order_no = $2 and cycle_no = $3 and status = 'ISSUED' and expires_at > ${fromEpochMs('$4')}
     order by expires_at, position`,
  parameters: ['bigint', 'bigint', 'integer', 'double precision'],
  columns: columns({ cycleNo: 'integer', position: 'integer' }),
});

/** Lists the claimable benefits of an order, as many as one press can claim. */
export const listClaimable = declareList({
  text: `select cycle_no as "cycleNo", position from benefits
     where channel_id = $1 and order_no = $2 and status = 'ISSUED' and expires_at > ${fromEpochMs('$3')}
     order by expires_at, cycle_no, position limit ${MAX_CLAIMED_TOGETHER}`,
  parameters: ['bigint', 'bigint', 'double precision'],
  columns: columns({ cycleNo: 'integer', position: 'integer' }),
});

export const findChannelVersion = declareFind({
  name: 'channel-version',
  text: 'select version from channels where app_id = $1',
  parameters: ['text'],
  columns: columns({ version: 'bigint' }),
  value: ({ version }) => version,
});
