import type { PaymentStatus } from '@perennial/wire';
import { columns, joinColumns, type Queryable, statement } from '../platform/db/database.js';
import { epochMs, fromEpochMs } from '../platform/db/time-sql.js';
import type { Order } from '../subscriptions/domain/orders/order.js';
import { ORDER_COLUMNS, ORDER_FIELDS } from '../subscriptions/store/orders/orders-sql.js';

/** What every step of the page reads: the order, and the present version of the channel. */
export interface RedeemOrder {
  readonly version: number;
  readonly order: Order;
  /** Whether the user can be asked for digits of the login mobile. */
  readonly hasMobile: boolean;
}

export interface RedeemProduct extends RedeemOrder {
  readonly productName: string;
}

/** The list of the page that a benefit stands in. */
export type BenefitList = 'TO_CLAIM' | 'CLAIMED' | 'PAST';

export interface BenefitRow {
  readonly list: BenefitList;
  /** Its place in the list, from 1, and how many the list has. */
  readonly rank: number;
  readonly total: number;
  /** How many of its period are in the list. */
  readonly ofPeriod: number;
  readonly cycleNo: number;
  readonly position: number;
  readonly name: string;
  readonly faceValueCent: number;
  readonly status: 'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED';
  readonly expiresAt: number;
  /** The last of its list. */
  readonly lastExpiresAt: number;
  readonly claimedAt: number | null;
  /** Sealed. Null while the claim waits for its code. */
  readonly code: string | null;
  /** The name of a file under /redeem/images. */
  readonly icon: string | null;
  readonly description: string | null;
  readonly useUrl: string | null;
}

export type BenefitPosition = Pick<BenefitRow, 'cycleNo' | 'position'>;

export interface PaymentRow {
  readonly cycleNo: number;
  readonly status: PaymentStatus;
  readonly expectAt: number;
  readonly paidAt: number | null;
  readonly amountCent: number;
  /** The latest first. Null when nothing was given back. */
  readonly refunds: readonly RefundRow[] | null;
}

export interface RefundRow {
  readonly amountCent: number;
  readonly at: number;
}

export interface RedeemPage extends RedeemProduct {
  /** The beginnings of the lists, and what was just claimed. Of what is past one, which says how many there are. */
  readonly benefits: readonly BenefitRow[];
  /** The latest period first. */
  readonly payments: readonly PaymentRow[];
}

export interface RedeemList extends RedeemProduct {
  /** One more than a page shows, if there are more. */
  readonly benefits: readonly BenefitRow[];
}

export interface RedeemPayments extends RedeemProduct {
  /** One more than a page shows, if there are more. */
  readonly payments: readonly PaymentRow[];
}

/** What the question whether to end needs, and the page after it. */
export interface RedeemEnding extends RedeemProduct {
  readonly toClaim: number;
  /** Up to when the last of them can be claimed. */
  readonly lastDeadline: number | null;
}

/** Entries of one list on a page of its own, at most. */
export const PAGE_ENTRIES = 20;
/** Entries of the lists on the page that shows all of them. */
export const FIRST_TO_CLAIM = 12;
export const FIRST_CODES = 4;
export const FIRST_PAYMENTS = 4;

const HAS_MOBILE = `exists(select from channel_users u
  where u.channel_id = o.channel_id and key_of(u.channel_user_id) = key_of(o.channel_user_id)) as "hasMobile"`;
const PRODUCT_NAME = `coalesce((select p.product_name from products p where p.product_code = o.product_code), o.product_code)
  as "productName"`;
const ORDER = `from channels c join orders o on o.channel_id = c.channel_id where c.channel_id = $1 and o.order_no = $2`;

/**
 * The benefits of the order, each with its list and its place in it: what can be claimed by the first deadline of its period, then
 * by its own; what was claimed, the latest first; what is past, the newest period first.
 */
const RANKED_BENEFITS = `(
  select b.*, count(*) over (partition by list) as total, max(expires_at) over (partition by list) as last_expires_at,
    row_number() over (partition by list order by case list when 'TO_CLAIM' then date_part('epoch', first_expires_at)
        when 'CLAIMED' then -date_part('epoch', claimed_at) else 0 end,
      case list when 'TO_CLAIM' then cycle_no else -cycle_no end, expires_at, position) as rank
  from (select b.*, min(expires_at) over period as first_expires_at, count(*) over period as of_period
    from (select b.*, case when status = 'CLAIMED' then 'CLAIMED'
            when status = 'ISSUED' and expires_at > ${fromEpochMs('$3')} then 'TO_CLAIM' else 'PAST' end as list
          from benefits b where b.order_no = $2) b
    window period as (partition by list, cycle_no)) b)`;

/** `$4`: the language of descriptions. */
const BENEFIT_JSON = `json_build_object('list', b.list, 'rank', b.rank, 'total', b.total, 'ofPeriod', b.of_period,
  'cycleNo', b.cycle_no, 'position', b.position, 'name', b.name, 'faceValueCent', b.face_value_cent, 'status', b.status,
  'expiresAt', ${epochMs('b.expires_at')}, 'lastExpiresAt', ${epochMs('b.last_expires_at')},
  'claimedAt', ${epochMs('b.claimed_at')}, 'code', k.code,
  'icon', i.image_hash || case i.media_type when 'image/png' then '.png' else '.svg' end,
  'description', case $4 when 'en' then d.description_en else d.description_zh end, 'useUrl', d.use_url)`;
const WITH_DETAILS = `left join claims k using (order_no, cycle_no, position)
  left join benefit_presentations d on d.benefit_code = b.benefit_code
  left join images i on i.image_hash = d.icon_hash`;

/** Refunds are looked for where there are any. */
const PAYMENT_JSON = `json_build_object('cycleNo', p.cycle_no, 'status', p.status, 'expectAt', ${epochMs('p.expect_at')},
  'paidAt', ${epochMs('p.paid_at')}, 'amountCent', p.amount_cent,
  'refunds', case when p.refund_amount_cent > 0 then
    (select json_agg(json_build_object('amountCent', r.amount_cent, 'at', ${epochMs('coalesce(r.refunded_at, r.settled_at)')})
       order by r.refund_seq desc)
     from refunds r where r.order_no = p.order_no and r.cycle_no = p.cycle_no and r.status = 'SUCCESS') end)`;

const PRODUCT_COLUMNS = joinColumns(
  ORDER_COLUMNS,
  columns<Omit<RedeemProduct, 'order'>>({ version: 'bigint', hasMobile: 'boolean', productName: 'text' }),
);

/** `$5` and `$6`: the period, and of it the position or 0 for all, that was just claimed. */
const READ_PAGE = statement({
  name: 'redeem-page',
  text: `
select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE}, ${PRODUCT_NAME},
  coalesce((select json_agg(${BENEFIT_JSON} order by b.rank)
    from ${RANKED_BENEFITS} b ${WITH_DETAILS}
    where b.rank <= case b.list when 'TO_CLAIM' then ${FIRST_TO_CLAIM} when 'CLAIMED' then ${FIRST_CODES} else 1 end
      or (b.cycle_no = $5 and $6 in (0, b.position))), '[]'::json) as benefits,
  coalesce((select json_agg(${PAYMENT_JSON})
    from (select * from payments p where p.order_no = o.order_no order by p.cycle_no desc limit ${FIRST_PAYMENTS}) p),
    '[]'::json) as payments
${ORDER}`,
  parameters: ['bigint', 'bigint', 'double precision', 'text', 'integer', 'integer'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns<Pick<RedeemPage, 'benefits' | 'payments'>>({ benefits: 'json', payments: 'json' }),
  ),
});

/** What was just claimed: one benefit, or a whole period. */
export interface JustClaimed {
  readonly cycleNo: number;
  readonly position: number | undefined;
}

/** Everything on the page as of one moment. */
export async function readRedeemPage(
  db: Queryable,
  channelId: number,
  orderNo: number,
  { now, lang, done }: { readonly now: number; readonly lang: string; readonly done: JustClaimed | undefined },
): Promise<RedeemPage | undefined> {
  const values = [channelId, orderNo, now, lang, done?.cycleNo ?? 0, done?.position ?? 0] as const;
  const [row] = await db.query(READ_PAGE, values);
  if (!row) return undefined;
  const { version, hasMobile, productName, benefits, payments, ...order } = row;
  return { version, hasMobile, productName, benefits, payments, order };
}

const READ_LIST = statement({
  name: 'redeem-list',
  text: `
with listed as (select * from ${RANKED_BENEFITS} b where list = $5),
  start as (select coalesce((select rank from listed where cycle_no = $6 and position = $7), 1) as rank)
select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE}, ${PRODUCT_NAME},
  coalesce((select json_agg(${BENEFIT_JSON} order by b.rank) from listed b ${WITH_DETAILS}
    where b.rank between (select rank from start) and (select rank from start) + ${PAGE_ENTRIES}), '[]'::json) as benefits
${ORDER}`,
  parameters: ['bigint', 'bigint', 'double precision', 'text', 'text', 'integer', 'integer'],
  columns: joinColumns(PRODUCT_COLUMNS, columns<Pick<RedeemList, 'benefits'>>({ benefits: 'json' })),
});

export interface AskedList {
  readonly list: BenefitList;
  /** The first to show. The list's own first, if it is not in the list. */
  readonly from: BenefitPosition | undefined;
}

export async function readRedeemList(
  db: Queryable,
  channelId: number,
  orderNo: number,
  { now, lang, list, from }: { readonly now: number; readonly lang: string } & AskedList,
): Promise<RedeemList | undefined> {
  const values = [channelId, orderNo, now, lang, list, from?.cycleNo ?? 0, from?.position ?? 0] as const;
  const [row] = await db.query(READ_LIST, values);
  if (!row) return undefined;
  const { version, hasMobile, productName, benefits, ...order } = row;
  return { version, hasMobile, productName, benefits, order };
}

const READ_PAYMENTS = statement({
  name: 'redeem-payments',
  text: `
select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE}, ${PRODUCT_NAME},
  coalesce((select json_agg(${PAYMENT_JSON})
    from (select * from payments p where p.order_no = o.order_no and p.cycle_no <= $3
          order by p.cycle_no desc limit ${PAGE_ENTRIES + 1}) p), '[]'::json) as payments
${ORDER}`,
  parameters: ['bigint', 'bigint', 'integer'],
  columns: joinColumns(PRODUCT_COLUMNS, columns<Pick<RedeemPayments, 'payments'>>({ payments: 'json' })),
});

/** From a period back. */
export async function readRedeemPayments(
  db: Queryable,
  channelId: number,
  orderNo: number,
  fromCycleNo: number,
): Promise<RedeemPayments | undefined> {
  const [row] = await db.query(READ_PAYMENTS, [channelId, orderNo, fromCycleNo]);
  if (!row) return undefined;
  const { version, hasMobile, productName, payments, ...order } = row;
  return { version, hasMobile, productName, payments, order };
}

const READ_ENDING = statement({
  name: 'redeem-ending',
  text: `
select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE}, ${PRODUCT_NAME}, b.count as "toClaim", b.last as "lastDeadline"
from channels c join orders o on o.channel_id = c.channel_id,
  lateral (select count(*) as count, ${epochMs('max(b.expires_at)')} as last from benefits b
    where b.order_no = o.order_no and b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$3')}) b
where c.channel_id = $1 and o.order_no = $2`,
  parameters: ['bigint', 'bigint', 'double precision'],
  columns: joinColumns(
    PRODUCT_COLUMNS,
    columns<Pick<RedeemEnding, 'toClaim' | 'lastDeadline'>>({ toClaim: 'bigint', lastDeadline: 'bigint?' }),
  ),
});

export async function readRedeemEnding(
  db: Queryable,
  channelId: number,
  orderNo: number,
  now: number,
): Promise<RedeemEnding | undefined> {
  const [row] = await db.query(READ_ENDING, [channelId, orderNo, now]);
  if (!row) return undefined;
  const { version, hasMobile, productName, toClaim, lastDeadline, ...order } = row;
  return { version, hasMobile, productName, toClaim, lastDeadline, order };
}

const READ_ORDER = statement({
  name: 'redeem-order',
  text: `select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE} ${ORDER}`,
  parameters: ['bigint', 'bigint'],
  columns: joinColumns(ORDER_COLUMNS, columns<Omit<RedeemOrder, 'order'>>({ version: 'bigint', hasMobile: 'boolean' })),
});

export async function readRedeemOrder(
  db: Queryable,
  channelId: number,
  orderNo: number,
): Promise<RedeemOrder | undefined> {
  const [row] = await db.query(READ_ORDER, [channelId, orderNo]);
  if (!row) return undefined;
  const { version, hasMobile, ...order } = row;
  return { version, hasMobile, order };
}

const LIST_PERIOD = statement({
  text: `select cycle_no as "cycleNo", position from benefits
     where channel_id = $1 and order_no = $2 and cycle_no = $3 and status = 'ISSUED' and expires_at > ${fromEpochMs('$4')}
     order by expires_at, position`,
  parameters: ['bigint', 'bigint', 'integer', 'double precision'],
  columns: columns<BenefitPosition>({ cycleNo: 'integer', position: 'integer' }),
});

/** What can be claimed of one period. */
export function listClaimableOfPeriod(
  db: Queryable,
  channelId: number,
  orderNo: number,
  cycleNo: number,
  now: number,
): Promise<readonly BenefitPosition[]> {
  return db.query(LIST_PERIOD, [channelId, orderNo, cycleNo, now]);
}

const FIND_CHANNEL_VERSION = statement({
  name: 'channel-version',
  text: 'select version from channels where app_id = $1',
  parameters: ['text'],
  columns: columns<{ version: number }>({ version: 'bigint' }),
});

export async function findChannelVersion(db: Queryable, appId: string): Promise<number | undefined> {
  const [row] = await db.query(FIND_CHANNEL_VERSION, [appId]);
  return row?.version;
}
