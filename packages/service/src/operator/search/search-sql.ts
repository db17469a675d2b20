import { columns, type RowOf } from '../../platform/db/database.js';
import { declareFind, declareHas, declareList, type Query } from '../../platform/db/declared.js';
import { channelsOfUserSql } from '../channels-of-user-sql.js';

/** The fields of an order that search results show. */
export type FoundOrder = RowOf<typeof ORDER_COLUMNS>;

const ORDER_COLUMNS = columns({
  orderNo: 'bigint',
  appId: 'text',
  externalOrderNo: 'text',
  channelUserId: 'text',
  productCode: 'text',
  status: 'text',
});

const APP_ID = (channelId: string) => `(select c.app_id from channels c where c.channel_id = ${channelId})`;

const ORDER_FIELDS = `o.order_no as "orderNo", ${APP_ID('o.channel_id')} as "appId",
  o.external_order_no as "externalOrderNo", o.channel_user_id as "channelUserId", o.product_code as "productCode", o.status`;

export const findOrders: Query<[orderNos: readonly number[]], FoundOrder[]> = declareList({
  text: `select ${ORDER_FIELDS} from unnest($1::bigint[]) as k(order_no),
      lateral (select * from orders o where o.order_no = k.order_no offset 0) o`,
  parameters: ['bigint[]'],
  columns: ORDER_COLUMNS,
});

/**
 * Returns up to `limit` orders whose numbers are in one of the ranges (start inclusive, end exclusive). Takes the
 * highest numbers of a range first.
 */
export const findOrdersInRanges: Query<
  [firsts: readonly number[], afters: readonly number[], limit: number],
  FoundOrder[]
> = declareList({
  text: `select ${ORDER_FIELDS} from unnest($1::bigint[], $2::bigint[]) as r(first, after),
      lateral (select * from orders o where o.order_no >= r.first and o.order_no < r.after
        order by o.order_no desc limit $3) o
    limit $3`,
  parameters: ['bigint[]', 'bigint[]', 'bigint'],
  columns: ORDER_COLUMNS,
});

export const findOrderByExternal = declareFind({
  text: 'select e.order_no as "orderNo" from external_orders e where key_of(e.external_order_no) = key_of($1)',
  parameters: ['text'],
  columns: columns({ orderNo: 'bigint' }),
});

export type FoundPayment = RowOf<typeof PAYMENT_COLUMNS>;

const PAYMENT_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  appId: 'text',
  status: 'text',
  amountCent: 'bigint',
});

/** Returns a started period. */
export const findPayment: Query<[orderNo: number, cycleNo: number], FoundPayment | undefined> = declareFind({
  text: `select p.order_no as "orderNo", p.cycle_no as "cycleNo", ${APP_ID('p.channel_id')} as "appId", p.status,
      p.amount_cent as "amountCent"
    from payments p where p.order_no = $1 and p.cycle_no = $2`,
  parameters: ['bigint', 'integer'],
  columns: PAYMENT_COLUMNS,
});

export const hasAttempt: Query<[orderNo: number, cycleNo: number, tryNo: number], boolean> = declareHas({
  text: 'select from debit_attempts where order_no = $1 and cycle_no = $2 and try_no = $3',
  parameters: ['bigint', 'integer', 'integer'],
});

export const hasClaim: Query<[orderNo: number, cycleNo: number, position: number], boolean> = declareHas({
  text: 'select from claims where order_no = $1 and cycle_no = $2 and position = $3',
  parameters: ['bigint', 'integer', 'integer'],
});

/**
 * Finds the orders whose claims have one of these codes, or had it before an operator replaced it. Each channel has its
 * own hash of a code.
 */
export const findOrdersByCode = declareList({
  text: `select c.order_no as "orderNo", false as "isReplaced"
    from unnest($1::bytea[]) as k(hash), lateral (select * from claims c where c.code_hash = k.hash offset 0) c
    union all select r.order_no, true
    from unnest($1::bytea[]) as k(hash), lateral (select * from replaced_codes r where r.code_hash = k.hash offset 0) r
    limit $2`,
  parameters: ['bytea[]', 'bigint'],
  columns: columns({ orderNo: 'bigint', isReplaced: 'boolean' }),
  byIndex: true,
});

/**
 * Finds the debits that have this reference at an institution, which users see on their bank statements. `offset 0`
 * makes PostgreSQL use the index of references: without statistics it would walk the primary key in the wanted order.
 */
export const findDebitsByReference = declareList({
  text: `select d.order_no as "orderNo", d.cycle_no as "cycleNo"
    from (select * from debit_attempts where institution_ref = $1 offset 0) d
    order by d.order_no desc, d.cycle_no desc limit $2`,
  parameters: ['text', 'bigint'],
  columns: columns({ orderNo: 'bigint', cycleNo: 'integer' }),
  byIndex: true,
});

/** Finds the refunds that have this reference, like `findDebitsByReference`. */
export const findRefundsByReference = declareList({
  text: `select r.order_no as "orderNo", r.cycle_no as "cycleNo", r.refund_seq as "refundSeq"
    from (select * from refunds where institution_ref = $1 offset 0) r
    order by r.order_no desc, r.cycle_no desc, r.refund_seq desc limit $2`,
  parameters: ['text', 'bigint'],
  columns: columns({ orderNo: 'bigint', cycleNo: 'integer', refundSeq: 'integer' }),
  byIndex: true,
});

export type FoundAgreement = RowOf<typeof AGREEMENT_COLUMNS>;

const AGREEMENT_COLUMNS = columns({
  agreementNo: 'text',
  appId: 'text',
  channelUserId: 'text',
  status: 'text',
  paymentChannelCode: 'text',
  cardTail: 'text',
});

const AGREEMENT_FIELDS = `a.agreement_no as "agreementNo", ${APP_ID('a.channel_id')} as "appId",
  a.channel_user_id as "channelUserId", a.status, a.payment_channel_code as "paymentChannelCode", a.card_tail as "cardTail"`;

export const findAgreementById: Query<[agreementId: number], FoundAgreement | undefined> = declareFind({
  text: `select ${AGREEMENT_FIELDS} from agreements a where a.agreement_id = $1 and a.agreement_no is not null`,
  parameters: ['bigint'],
  columns: AGREEMENT_COLUMNS,
});

/** Finds the agreements that have this number at an institution, by the number's hash. Newest first. */
export const findAgreementsByInstitutionNo: Query<[institutionHash: Buffer, limit: number], FoundAgreement[]> =
  declareList({
    text: `select ${AGREEMENT_FIELDS} from payment_channels p, lateral (
        select * from agreements a where a.payment_channel_code = p.code and a.institution_hash = $1 offset 0) a
      where a.agreement_no is not null order by a.agreement_id desc limit $2`,
    parameters: ['bytea', 'bigint'],
    columns: AGREEMENT_COLUMNS,
    byIndex: true,
  });

/** Newest first. */
export const findAgreementsByCardTail: Query<[tail: string, limit: number], FoundAgreement[]> = declareList({
  text: `select ${AGREEMENT_FIELDS} from agreements a where a.card_tail = $1 and a.agreement_no is not null
    order by a.agreement_id desc limit $2`,
  parameters: ['text', 'bigint'],
  columns: AGREEMENT_COLUMNS,
  byIndex: true,
});

/**
 * Finds an event of any channel by its number. A row may stand for several voided periods; `$2` is then one of these
 * periods.
 */
export const findEventByNumber = declareFind({
  text: `select ${APP_ID('e.channel_id')} as "appId", e.order_no as "orderNo", e.event_type as "eventType"
    from events e where e.event_no = $1 and ($2::integer is null or $2 between e.cycle_no and e.cycle_to)`,
  parameters: ['bigint', 'integer?'],
  columns: columns({ appId: 'text', orderNo: 'bigint', eventType: 'text' }),
  byIndex: true,
});

export type FoundUser = RowOf<typeof USER_COLUMNS>;

const USER_COLUMNS = columns({ appId: 'text', channelUserId: 'text' });

/** Returns the channels in which this user id has a mobile, an order or an agreement. */
export const findUsersById: Query<[channelUserId: string, limit: number], FoundUser[]> = declareList({
  text: `select c.app_id as "appId", $1::text as "channelUserId" from channels c where c.channel_id in (
      select u.channel_id from channel_users u where key_of(u.channel_user_id) = key_of($1)
      union all ${channelsOfUserSql('external_orders', 't.user_key', '$1')}
      union all ${channelsOfUserSql('agreements', 'key_of(t.channel_user_id)', '$1')})
    order by c.app_id limit $2`,
  parameters: ['text', 'bigint'],
  columns: USER_COLUMNS,
  byIndex: true,
});

/** Returns the number of the user's latest order. */
export const findLatestOrder = declareFind({
  text: `select e.order_no as "orderNo" from external_orders e join channels c using (channel_id)
    where c.app_id = $1 and e.user_key = key_of($2) order by e.created_at desc, e.order_no desc limit 1`,
  parameters: ['text', 'text'],
  columns: columns({ orderNo: 'bigint' }),
  byIndex: true,
});

/** Finds users by the hashes of a mobile number. Each channel has its own hash of the number. */
export const findUsersByMobile: Query<
  [channelIds: readonly number[], mobileHashes: readonly Buffer[], limit: number],
  FoundUser[]
> = declareList({
  text: `select ${APP_ID('u.channel_id')} as "appId", u.channel_user_id as "channelUserId"
    from unnest($1::bigint[], $2::bytea[]) as k(channel_id, mobile_hash),
      lateral (select * from channel_users u
        where u.channel_id = k.channel_id and u.mobile_hash = k.mobile_hash offset 0) u
    limit $3`,
  parameters: ['bigint[]', 'bytea[]', 'bigint'],
  columns: USER_COLUMNS,
});

/** Needs no index: operators create channels, so there are few channels. */
export const findChannelsByPrefix = declareList({
  text: `select c.app_id as "appId", c.name, c.status from channels c
    where starts_with(lower(c.app_id), lower($1)) or starts_with(lower(c.name), lower($1)) order by c.app_id limit $2`,
  parameters: ['text', 'bigint'],
  columns: columns({ appId: 'text', name: 'text', status: 'text' }),
});

/** Returns the wrapped keys from which the hashes of mobile numbers are computed, for all channels. */
export const listLookUpKeys = declareList({
  text: `select c.channel_id as "channelId", c.app_id as "appId", c.data_key as "dataKey", c.look_up_key as "lookUpKey"
     from channels c order by c.app_id`,
  parameters: [],
  columns: columns({ channelId: 'bigint', appId: 'text', dataKey: 'text', lookUpKey: 'text?' }),
});

export const findProductsByPrefix = declareList({
  text: `select p.product_code as "productCode", p.product_name as "productName" from products p
    where starts_with(lower(p.product_code), lower($1)) or starts_with(lower(p.product_name), lower($1))
    order by p.product_code limit $2`,
  parameters: ['text', 'bigint'],
  columns: columns({ productCode: 'text', productName: 'text' }),
});
