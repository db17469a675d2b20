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

export interface BenefitRow {
  readonly cycleNo: number;
  readonly position: number;
  readonly name: string;
  readonly faceValueCent: number;
  readonly status: 'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED';
  readonly expiresAt: number;
  readonly claimedAt: number | null;
  /** Sealed. Null while the claim waits for its code. */
  readonly code: string | null;
}

export type BenefitPosition = Pick<BenefitRow, 'cycleNo' | 'position'>;

export interface RedeemPage extends RedeemOrder {
  readonly productName: string;
  /** The newest period first, beginning with the benefit that was asked for. One more than a page shows, if there are more. */
  readonly benefits: readonly BenefitRow[];
  /** What can be claimed, newest first, on this page or not; at most MAX_COUNTED. */
  readonly claimable: readonly BenefitPosition[];
}

/** Benefits on one page, at most. */
export const PAGE_BENEFITS = 20;
export const MAX_COUNTED = 100;

const HAS_MOBILE = `exists(select from channel_users u
  where u.channel_id = o.channel_id and key_of(u.channel_user_id) = key_of(o.channel_user_id)) as "hasMobile"`;
const ORDER = `from channels c join orders o on o.channel_id = c.channel_id where c.channel_id = $1 and o.order_no = $2`;

/** Benefits as they are stored; whether one has expired by now is decided by the caller. */
const READ_PAGE = statement({
  name: 'redeem-page',
  text: `
select c.version, ${ORDER_FIELDS}, ${HAS_MOBILE},
  coalesce((select p.product_name from products p where p.product_code = o.product_code), o.product_code) as "productName",
  coalesce((select json_agg(json_build_object('cycleNo', b.cycle_no, 'position', b.position, 'name', b.name,
      'faceValueCent', b.face_value_cent, 'status', b.status, 'expiresAt', ${epochMs('b.expires_at')},
      'claimedAt', ${epochMs('b.claimed_at')}, 'code', k.code) order by b.cycle_no desc, b.position)
    from (select * from benefits b where b.order_no = o.order_no and b.cycle_no <= $4 and (b.cycle_no < $4 or b.position >= $5)
          order by b.cycle_no desc, b.position limit ${PAGE_BENEFITS + 1}) b
      left join claims k using (order_no, cycle_no, position)), '[]'::json) as benefits,
  coalesce((select json_agg(json_build_object('cycleNo', b.cycle_no, 'position', b.position) order by b.cycle_no desc, b.position)
    from (select * from benefits b where b.order_no = o.order_no and b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$3')}
          order by b.cycle_no desc, b.position limit ${MAX_COUNTED}) b), '[]'::json) as claimable
${ORDER}`,
  parameters: ['bigint', 'bigint', 'double precision', 'integer', 'integer'],
  columns: joinColumns(
    ORDER_COLUMNS,
    columns<Omit<RedeemPage, 'order'>>({
      version: 'bigint',
      hasMobile: 'boolean',
      productName: 'text',
      benefits: 'json',
      claimable: 'json',
    }),
  ),
});

/** Everything on the page as of one moment. `from` is the benefit that it begins with; without it the newest. */
export async function readRedeemPage(
  db: Queryable,
  channelId: number,
  orderNo: number,
  now: number,
  from: BenefitPosition = { cycleNo: 10_000, position: 0 },
): Promise<RedeemPage | undefined> {
  const [row] = await db.query(READ_PAGE, [channelId, orderNo, now, from.cycleNo, from.position]);
  if (!row) return undefined;
  const { version, hasMobile, productName, benefits, claimable, ...order } = row;
  return { version, hasMobile, productName, benefits, claimable, order };
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
