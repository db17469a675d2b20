import type { OrderStatus, PaymentStatus, SettlementMode } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs } from '../../platform/db/time-sql.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import { hasEnded } from '../../subscriptions/domain/orders/order-states.js';
import { BILLING_LANES } from '../../subscriptions/store/orders/bill-orders-sql.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { orderStatusIs, paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { channelsOfUserSql } from '../channels-of-user-sql.js';
import type { Stretch } from '../walk.js';

/** A filter of orders. Times are Unix milliseconds; `from` is inclusive, `to` is exclusive. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly channelId?: number | undefined;
  readonly productCode?: string | undefined;
  readonly settlementMode?: SettlementMode | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly dueFrom?: number | undefined;
  readonly dueTo?: number | undefined;
  /**
   * True: only orders whose latest period failed, whether it waits for a retry or failed finally. False: only orders
   * whose latest period did not fail.
   */
  readonly failed?: boolean | undefined;
  readonly channelUserId?: string | undefined;
}

/** The position of an order in the list: its creation or due time in Unix microseconds, and its number. */
export type OrderListKey = readonly [micros: number, orderNo: number];

export interface ListedOrder extends Order {
  readonly appId: string;
  readonly key: OrderListKey;
}

export type OrderStretch<Found> = Stretch<Found, OrderListKey>;

/** A stretch of the list (consecutive orders) that one statement reads. */
export interface Walk {
  /** The position after which the stretch begins. Undefined: the start of the list. */
  readonly after: OrderListKey | undefined;
  /**
   * The length of the stretch, as a number of orders. The due orders of one channel are read in windows of time, so for
   * these orders it is the length of a window in minutes.
   */
  readonly orders: number;
}

const FAILED_STATUSES: readonly PaymentStatus[] = ['FAIL_RETRY', 'FAIL'];

/** True if the list is sorted by due time, soonest first. Otherwise newest first. */
const isSortedByDue = ({ dueFrom, dueTo }: OrderFilter): boolean => dueFrom !== undefined || dueTo !== undefined;

/** The parameters of a select whose text depends on the filter. */
interface Question {
  readonly values: unknown[];
  /** Adds a value and returns its placeholder. */
  readonly value: (given: unknown) => string;
}

function createQuestion(): Question {
  const values: unknown[] = [];
  return { values, value: (given) => `$${values.push(given)}` };
}

/** Returns conditions on the order `o`. The list contains exactly the orders that meet all of them. */
function conditionsOf(filter: OrderFilter, { value }: Question): string[] {
  const range = (column: string, from: number | undefined, to: number | undefined) => [
    ...(from === undefined ? [] : [`${column} >= ${fromEpochMs(value(from))}`]),
    ...(to === undefined ? [] : [`${column} < ${fromEpochMs(value(to))}`]),
  ];
  const equal = (column: string, given: unknown) => (given === undefined ? [] : [`${column} = ${value(given)}`]);
  const { statuses, failed } = filter;
  return [
    ...(statuses === undefined ? [] : [orderStatusIs('o.status', ...statuses)]),
    ...equal('o.channel_id', filter.channelId),
    ...equal('o.product_code', filter.productCode),
    ...equal('o.settlement_mode', filter.settlementMode),
    ...equal('o.channel_user_id', filter.channelUserId),
    ...range('o.created_at', filter.createdFrom, filter.createdTo),
    ...range('o.next_due_at', filter.dueFrom, filter.dueTo),
    ...(failed === undefined
      ? []
      : [`(${paymentStatusIs('o.latest_payment_status', ...FAILED_STATUSES)}) is ${failed ? 'true' : 'not true'}`]),
  ];
}

/** An index to scan. Its columns are `lead`, then the columns compared in `where`, then the time `at`. */
interface Source {
  readonly table: string;
  readonly at: string;
  /**
   * The leading column. Comparing it with an array and sorting by it forces this index, because only this index has the
   * rows sorted that way. (PostgreSQL would ignore a constant as a sort key.) With an index on the time alone,
   * PostgreSQL may scan all rows for a channel that has no new rows.
   */
  readonly lead?: { readonly column: string; readonly given: string } | undefined;
  readonly where: readonly string[];
}

/**
 * Returns SQL that selects the keys of orders. Scans the index of the filter that is probably rarest; `conditionsOf`
 * checks the other filters for each order. The indexes made for lists are on external order numbers (which never
 * change), on ended orders, and on orders whose latest period failed. Lists by due time use the indexes of the engine.
 */
function walkSql(filter: OrderFilter, { after, orders }: Walk, question: Question): string {
  const { value } = question;
  const limit = value(orders);
  const pick = ({ table, at, lead, where }: Source, isAscending = false) => {
    const [way, than] = isAscending ? ['asc', '>'] : ['desc', '<'];
    const [from, to] = isAscending ? [filter.dueFrom, filter.dueTo] : [filter.createdFrom, filter.createdTo];
    const all = [
      ...(lead === undefined ? [] : [`${lead.column} = any(array[${lead.given}])`]),
      ...where,
      ...(from === undefined ? [] : [`${at} >= ${fromEpochMs(value(from))}`]),
      ...(to === undefined ? [] : [`${at} < ${fromEpochMs(value(to))}`]),
      ...(after === undefined
        ? []
        : [`(${at}, t.order_no) ${than} (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`]),
    ];
    return `(select ${at} as at, t.order_no from ${table} where ${all.length === 0 ? 'true' : all.join(' and ')}
      order by ${lead === undefined ? '' : `${lead.column} ${way}, `}${at} ${way}, t.order_no ${way} limit ${limit})`;
  };
  const { channelId, channelUserId, productCode, statuses, failed } = filter;
  const ofChannel = () => (channelId === undefined ? [] : [`t.channel_id = ${value(channelId)}`]);
  const ledBy = (column: string, given: string) => ({ column, given });
  const byChannel = () => (channelId === undefined ? undefined : ledBy('t.channel_id', `${value(channelId)}::bigint`));

  if (channelUserId !== undefined) {
    const user = value(channelUserId);
    const byUser = ledBy('t.user_key', `key_of(${user}::text)`);
    const own = (single: string) =>
      pick({
        table: 'external_orders t',
        at: 't.created_at',
        lead: byUser,
        where: ['t.channel_id = c.channel_id', single],
      });
    const channels =
      channelId === undefined
        ? channelsOfUserSql('external_orders', 't.user_key', user)
        : `(select ${value(channelId)}::bigint as channel_id)`;
    return `select k.at, k.order_no from ${channels} c, lateral (${own('t.single')} union all ${own('not t.single')}) k`;
  }
  if (isSortedByDue(filter)) {
    return dueSql(filter, (where) => pick({ table: 'orders t', at: 't.next_due_at', where }, true));
  }
  if (failed === true) {
    return FAILED_STATUSES.map((status) =>
      pick({
        table: 'orders t',
        at: 't.created_at',
        lead: byChannel(),
        where: [paymentStatusIs('t.latest_payment_status', status)],
      }),
    ).join(' union all ');
  }
  if (statuses?.every(hasEnded)) {
    return statuses
      .map((status) =>
        pick({ table: 'orders t', at: 't.created_at', lead: byChannel(), where: [orderStatusIs('t.status', status)] }),
      )
      .join(' union all ');
  }
  if (statuses?.every((status) => status === 'INITIALIZING')) {
    // Finds INITIALIZING orders by their first debit: it is in flight, and debits in flight have their own index.
    const started = `(select o.created_at, o.order_no, o.channel_id from debit_attempts d join orders o using (order_no)
      where d.status = 'STARTED' and d.cycle_no = 1) t`;
    return pick({ table: started, at: 't.created_at', where: ofChannel() });
  }
  const listed = (lead: Source['lead'], ...where: readonly string[]) =>
    pick({ table: 'external_orders t', at: 't.created_at', lead, where });
  if (channelId === undefined) {
    return listed(productCode === undefined ? undefined : ledBy('t.product_code', `${value(productCode)}::text`));
  }
  if (productCode !== undefined) return listed(byChannel(), `t.product_code = ${value(productCode)}`);
  // Merges the lists of all products, because the index of a channel's orders is by product.
  return `select k.at, k.order_no from products p, lateral ${listed(byChannel(), 't.product_code = p.product_code')} k`;
}

/**
 * Selects due orders separately by each index that the engine uses. Repeats the index's condition, so that PostgreSQL
 * can use the index.
 */
function dueSql({ settlementMode }: OrderFilter, pick: (where: readonly string[]) => string): string {
  const ofMode = (mode: SettlementMode, where: string) =>
    pick([`t.settlement_mode = '${mode}'`, where, 't.next_due_at is not null']);
  const billed = () =>
    Array.from({ length: BILLING_LANES }, (_, lane) =>
      ofMode('CHANNEL_COLLECT', `t.order_no % ${BILLING_LANES} = ${lane}`),
    );
  const debited = () =>
    `select d.at, d.order_no from payment_channels p, lateral ${ofMode('SVC_DEDUCT', 't.payment_channel_code = p.code')} d`;
  return [
    ...(settlementMode === 'SVC_DEDUCT' ? [] : billed()),
    ...(settlementMode === 'CHANNEL_COLLECT' ? [] : [debited()]),
  ].join(' union all ');
}

/** The maximum number of due orders in one stretch of a channel. */
const MAX_DUE = 2_000;

/**
 * Reads a channel's due orders in windows of some minutes. The next window begins at the next due order of any channel,
 * or after the last order read if MAX_DUE orders were read. Without windows, a search could scan all orders of other
 * channels in the same index.
 */
function dueOfChannelSql(filter: OrderFilter, { after, orders: minutes }: Walk, { value }: Question): string {
  const at = 't.next_due_at';
  const length = value(minutes);
  const key = after === undefined ? undefined : [fromEpochMicros(value(after[0])), value(after[1])];
  const before = filter.dueTo === undefined ? [] : [`${at} < ${fromEpochMs(value(filter.dueTo))}`];
  const channel = `t.channel_id = ${value(filter.channelId)}`;
  const pick = (conditions: readonly string[], limit: string) => (where: readonly string[]) =>
    `(select ${at} as at, t.order_no from orders t where ${[...where, ...conditions, ...before].join(' and ')}
      order by ${at}, t.order_no limit ${limit})`;
  const soonest = (from: readonly string[]) => `(select min(s.at) from (${dueSql(filter, pick(from, '1'))}) s)`;
  const begin =
    key?.[0] ?? soonest(filter.dueFrom === undefined ? [] : [`${at} >= ${fromEpochMs(value(filter.dueFrom))}`]);
  const within = [
    ...[channel, `${at} >= b.from_at`, `${at} < b.to_at`],
    ...(key === undefined ? [] : [`(${at}, t.order_no) > (${key.join(', ')})`]),
  ];
  return `with bounds as materialized (
      select s.at as from_at, s.at + ${length}::integer * interval '1 minute' as to_at from (select ${begin} as at) s
    ), walked as materialized (
      select k.at, k.order_no from bounds b, lateral (${dueSql(filter, pick(within, String(MAX_DUE)))}) k
      order by k.at, k.order_no limit ${MAX_DUE}
    ), ends as (
      select case when l.at is null then 0 else ${length}::integer end as walked, ${epochMicros('l.at')} as micros, l.order_no
      from (select (select count(*) = ${MAX_DUE} from walked) as is_full) w left join lateral (
        select * from (
          (select k.at, k.order_no from walked k where w.is_full order by k.at desc, k.order_no desc limit 1)
          union all
          select ${soonest([`${at} >= b.to_at`])}, 0 from bounds b where not w.is_full) l where l.at is not null) l on true
    )`;
}

/**
 * Returns the `with` clauses for a stretch: `walked` has all its orders, `ends` has where it ended, and `matching` has
 * the matching orders (at most `$1`) with their times in the list as `list_at`.
 */
function stretchSql(filter: OrderFilter, walk: Walk, question: Question): string {
  const way = isSortedByDue(filter) ? 'asc' : 'desc';
  const back = isSortedByDue(filter) ? 'desc' : 'asc';
  const conditions = conditionsOf(filter, question);
  const isDueOfChannel = isSortedByDue(filter) && filter.channelId !== undefined && filter.channelUserId === undefined;
  const walked = isDueOfChannel
    ? dueOfChannelSql(filter, walk, question)
    : `with walked as materialized (
      select k.at, k.order_no from (${walkSql(filter, walk, question)}) k
      order by k.at ${way}, k.order_no ${way} limit ${question.value(walk.orders)}
    ), ends as (
      select (select count(*)::integer from walked) as walked, l.micros, l.order_no
      from (select) one left join (
        select ${epochMicros('w.at')} as micros, w.order_no from walked w order by w.at ${back}, w.order_no ${back} limit 1) l on true
    )`;
  return `${walked}, matching as (
      select o.*, w.at as list_at from walked w, lateral (select * from orders o where o.order_no = w.order_no offset 0) o
      ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by w.at ${way}, w.order_no ${way} limit $1
    )`;
}

interface EndRow {
  readonly walked: number;
  readonly lastMicros: number | null;
  readonly lastNo: number | null;
}

const lastOf = ({ lastMicros, lastNo }: EndRow): OrderListKey | undefined =>
  lastMicros === null || lastNo === null ? undefined : [lastMicros, lastNo];

const END_FIELDS = 'e.walked, e.micros as "lastMicros", e.order_no as "lastNo"';

type OrderRow = EndRow & { readonly [Field in keyof Order]: Order[Field] | null } & {
  readonly appId: string;
  readonly listMicros: number;
};

/** Reads the matching orders of a stretch. Each filter has its own SQL text, so that it gets its own plan and index. */
export async function readOrders(
  db: Queryable,
  filter: OrderFilter,
  walk: Walk,
  limit: number,
): Promise<OrderStretch<ListedOrder[]>> {
  const { list, values } = orderListQuery(filter, walk, limit);
  const rows = await db.query<OrderRow>(list, values);
  const [first] = rows;
  if (!first) throw new Error('a stretch has an end');
  const found = rows.flatMap(({ walked: _1, lastMicros: _2, lastNo: _3, listMicros, ...order }) =>
    order.orderNo === null
      ? []
      : [{ ...(order as Order), appId: order.appId, key: [listMicros, order.orderNo] as const }],
  );
  return { found, walked: first.walked, last: lastOf(first) };
}

/** Forbids sequential scans, because the planner's statistics may date from when the table was small. */
export function orderListQuery(filter: OrderFilter, walk: Walk, limit: number) {
  const question = createQuestion();
  question.value(limit);
  const way = isSortedByDue(filter) ? 'asc' : 'desc';
  const text = `${stretchSql(filter, walk, question)}
    select ${END_FIELDS}, ${ORDER_FIELDS}, ${epochMicros('o.list_at')} as "listMicros",
      (select c.app_id from channels c where c.channel_id = o.channel_id) as "appId"
    from ends e left join matching o on true order by o.list_at ${way}, o.order_no ${way}`;
  return { list: { text, byIndex: true }, values: question.values };
}

export interface OrderSums {
  readonly count: number;
  readonly totalPaidAmountCent: number;
  readonly totalRefundAmountCent: number;
}

/** Counts the matching orders of a stretch up to `limit`, and sums their payments and refunds. */
export async function sumOrders(
  db: Queryable,
  filter: OrderFilter,
  walk: Walk,
  limit: number,
): Promise<OrderStretch<OrderSums>> {
  const question = createQuestion();
  question.value(limit);
  const text = `${stretchSql(filter, walk, question)}
    select ${END_FIELDS}, s.* from ends e, (
      select count(*)::integer as count, coalesce(sum(o.paid_amount_cent), 0)::bigint as "totalPaidAmountCent",
        coalesce(sum(o.refund_amount_cent), 0)::bigint as "totalRefundAmountCent" from matching o) s`;
  const sums = { text, byIndex: true };
  const [row] = await db.query<EndRow & OrderSums>(sums, question.values);
  if (!row) throw new Error('a stretch has an end');
  const { walked, lastMicros: _1, lastNo: _2, ...found } = row;
  return { found, walked, last: lastOf(row) };
}
