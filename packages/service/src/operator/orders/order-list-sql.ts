import type { OrderStatus, PaymentStatus, SettlementMode } from '@perennial/wire';
import { columns, declareList, type Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs } from '../../platform/db/time-sql.js';
import type { Order } from '../../subscriptions/domain/orders/order.js';
import { hasEnded } from '../../subscriptions/domain/orders/order-states.js';
import { BILLING_LANES } from '../../subscriptions/store/orders/bill-orders-sql.js';
import { ORDER_FIELDS } from '../../subscriptions/store/orders/orders-sql.js';
import { orderStatusIs, paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { channelsOfUserSql } from '../channels-of-user-sql.js';
import { type Counted, countSql } from '../paging.js';

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
  readonly listMicros: number;
}

const FAILED_STATUSES: readonly PaymentStatus[] = ['FAIL_RETRY', 'FAIL'];

/** True if the list is sorted by due time, soonest first. Otherwise, and for the orders of a user, newest first. */
const isSortedByDue = ({ dueFrom, dueTo, channelUserId }: OrderFilter): boolean =>
  channelUserId === undefined && (dueFrom !== undefined || dueTo !== undefined);

/** Adds a value and returns its placeholder. */
type Value = (given: unknown) => string;

const rangeOf = (column: string, from: number | undefined, to: number | undefined, value: Value) => [
  ...(from === undefined ? [] : [`${column} >= ${fromEpochMs(value(from))}`]),
  ...(to === undefined ? [] : [`${column} < ${fromEpochMs(value(to))}`]),
];

/** Returns conditions on the order `o`. The list contains exactly the orders that meet all of them. */
function conditionsOf(filter: OrderFilter, value: Value): string[] {
  const equal = (column: string, given: unknown) => (given === undefined ? [] : [`${column} = ${value(given)}`]);
  const { statuses, failed } = filter;
  return [
    ...(statuses === undefined ? [] : [orderStatusIs('o.status', ...statuses)]),
    ...equal('o.channel_id', filter.channelId),
    ...equal('o.product_code', filter.productCode),
    ...equal('o.settlement_mode', filter.settlementMode),
    ...equal('o.channel_user_id', filter.channelUserId),
    ...rangeOf('o.created_at', filter.createdFrom, filter.createdTo, value),
    ...rangeOf('o.next_due_at', filter.dueFrom, filter.dueTo, value),
    ...(failed === undefined
      ? []
      : [`(${paymentStatusIs('o.latest_payment_status', ...FAILED_STATUSES)}) is ${failed ? 'true' : 'not true'}`]),
  ];
}

const findChannelsOfUser = declareList({
  text: `select c.channel_id as "channelId" from ${channelsOfUserSql('external_orders', 't.user_key', '$1')} c`,
  parameters: ['text'],
  columns: columns({ channelId: 'bigint' }),
  byIndex: true,
  value: ({ channelId }) => channelId,
});

const findPaymentChannels = declareList({
  text: 'select code from payment_channels order by code',
  parameters: [],
  columns: columns({ code: 'text' }),
  value: ({ code }) => code,
});

/** Finds the products of which the channel has orders. */
const findProductsOfChannel = declareList({
  text: `select p.product_code as code from products p
     where exists (select from external_orders e where e.channel_id = $1 and e.product_code = p.product_code) order by 1`,
  parameters: ['bigint'],
  columns: columns({ code: 'text' }),
  byIndex: true,
  value: ({ code }) => code,
});

/** A part of an index that has its orders in the order of the list: the conditions select one range of the index. */
interface Source {
  readonly table: string;
  readonly where: readonly string[];
}

/** Lists of a channel or product with at most this number of orders may read all of them. */
const FEW = 20_000;

type OfCatalogue = Pick<OrderFilter, 'channelId' | 'productCode'>;

const numbersSql = ({ channelId, productCode }: OfCatalogue, value: Value, rest: string): string => {
  const where = [
    ...(channelId === undefined ? [] : [`channel_id = ${value(channelId)}`]),
    ...(productCode === undefined ? [] : [`product_code = ${value(productCode)}`]),
  ];
  return `(select order_no from external_orders where ${where.join(' and ')} ${rest})`;
};

/** SQL: selects the rows of `table` that belong to the orders of the channel and the product. */
export const ofOrdersSql = (table: string, filter: OfCatalogue, value: Value): string =>
  `(select r.* from ${numbersSql(filter, value, 'offset 0')} e,
     lateral (select * from ${table} r where r.order_no = e.order_no offset 0) r offset 0)`;

/**
 * Returns true if the channel or product of the filter has few orders. Their list is then read whole and sorted: in any
 * other index they may lie far apart.
 */
export async function hasFewOrders(db: Queryable, filter: OfCatalogue): Promise<boolean> {
  if (filter.channelId === undefined && filter.productCode === undefined) return false;
  const values: unknown[] = [];
  const numbers = numbersSql(filter, (given) => `$${values.push(given)}`, `limit ${FEW + 1}`);
  const few = { text: `select count(*) <= ${FEW} as "isFew" from ${numbers} e`, byIndex: true };
  const [row] = await db.query<{ readonly isFew: boolean }>(few, values);
  return row?.isFew === true;
}

/**
 * Returns the parts of an index that the list merges: the index of the filter that is probably rarest. `conditionsOf`
 * checks the other filters for each order. The indexes made for lists are on external order numbers (which never
 * change), on ended orders, and on orders whose latest period failed. Lists by due time use the indexes of the engine.
 */
async function findSources(db: Queryable, filter: OrderFilter, value: Value): Promise<readonly Source[]> {
  const { channelId, channelUserId, productCode, statuses, settlementMode } = filter;
  const isEnded = statuses?.every(hasEnded) === true;
  const isNarrowed = isSortedByDue(filter) || (statuses ?? settlementMode ?? filter.failed) !== undefined;
  // Ended and failed orders of a channel have indexes.
  const isIndexed = productCode === undefined && (isEnded || filter.failed === true);
  // Functions, because PostgreSQL refuses a statement with a value that it does not use.
  const ofChannel = () => (channelId === undefined ? [] : [`t.channel_id = ${value(channelId)}`]);
  const ofOrders = (...where: readonly string[]) => ({ table: 'orders t', where: [...ofChannel(), ...where] });
  const ofNumbers = (...where: readonly string[]) => ({ table: 'external_orders t', where });

  if (channelUserId !== undefined) {
    const channels =
      channelId === undefined ? (await findChannelsOfUser(db, channelUserId)).map(value) : [value(channelId)];
    return channels.flatMap((key) =>
      ['t.single', 'not t.single'].map((single) =>
        ofNumbers(`t.user_key = key_of(${value(channelUserId)}::text)`, `t.channel_id = ${key}`, single),
      ),
    );
  }
  if (isNarrowed && !isIndexed && (await hasFewOrders(db, filter))) {
    return [{ table: `${ofOrdersSql('orders', filter, value)} t`, where: [] }];
  }
  if (isSortedByDue(filter)) {
    // Repeats the conditions of the indexes, so that PostgreSQL can use them.
    const ofMode = (mode: SettlementMode, where: string) =>
      ofOrders(`t.settlement_mode = '${mode}'`, where, 't.next_due_at is not null');
    const lanes = settlementMode === 'SVC_DEDUCT' ? 0 : BILLING_LANES;
    const codes = settlementMode === 'CHANNEL_COLLECT' ? [] : (await findPaymentChannels(db)).map(value);
    return [
      ...Array.from({ length: lanes }, (_, lane) =>
        ofMode('CHANNEL_COLLECT', `t.order_no % ${BILLING_LANES} = ${lane}`),
      ),
      ...codes.map((code) => ofMode('SVC_DEDUCT', `t.payment_channel_code = ${code}`)),
    ];
  }
  if (filter.failed === true) {
    return FAILED_STATUSES.map((status) => ofOrders(paymentStatusIs('t.latest_payment_status', status)));
  }
  if (isEnded) return statuses.map((status) => ofOrders(orderStatusIs('t.status', status)));
  if (statuses?.every((status) => status === 'INITIALIZING')) {
    // Finds INITIALIZING orders by their first debit: it is in flight, and debits in flight have their own index.
    const started = `(select o.created_at, o.order_no, o.channel_id from debit_attempts d join orders o using (order_no)
      where d.status = 'STARTED' and d.cycle_no = 1 offset 0) t`;
    return [{ table: started, where: ofChannel() }];
  }
  if (productCode !== undefined) return [ofNumbers(...ofChannel(), `t.product_code = ${value(productCode)}`)];
  if (channelId === undefined) return [ofNumbers()];
  // The index of a channel's orders is by product.
  const products = (await findProductsOfChannel(db, channelId)).map(value);
  return products.map((code) => ofNumbers(...ofChannel(), `t.product_code = ${code}`));
}

export interface OrderListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Forbids sequential scans, because the planner's statistics may date from when the table was small. */
  readonly byIndex: true;
}

/**
 * Returns the statement of a list: merges the sorted sources and looks up each order until `limit` orders match. Each
 * source is sorted, because PostgreSQL otherwise reads all of them first. The sources select only columns of their own
 * indexes, so that PostgreSQL prefers these to an index on time alone. `offset 0` prevents a join that reads all orders.
 * Each filter has its own SQL text, and so its own plan.
 */
export async function orderListQuery(
  db: Queryable,
  filter: OrderFilter,
  after: OrderListKey | undefined,
  limit: number,
  toText: (list: (fields: string) => string) => string = (list) => list(LIST_FIELDS),
): Promise<OrderListQuery> {
  const values: unknown[] = [];
  const value: Value = (given) => `$${values.push(given)}`;
  const isDue = isSortedByDue(filter);
  const at = isDue ? 't.next_due_at' : 't.created_at';
  const way = isDue ? 'asc' : 'desc';
  const range = isDue
    ? rangeOf(at, filter.dueFrom, filter.dueTo, value)
    : rangeOf(at, filter.createdFrom, filter.createdTo, value);
  const place =
    after === undefined
      ? []
      : [`(${at}, t.order_no) ${isDue ? '>' : '<'} (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`];
  const found = await findSources(db, filter, value);
  const sources = found.length > 0 ? found : [{ table: 'external_orders t', where: ['false'] }];
  const merged = sources.map(
    ({ table, where }) =>
      `(select ${at} as at, t.order_no from ${table} where ${[...where, ...range, ...place].join(' and ') || 'true'}
        order by ${at} ${way}, t.order_no ${way})`,
  );
  const conditions = ['o.order_no = k.order_no', ...conditionsOf(filter, value)];
  const last = value(limit);
  const list = (fields: string) => `select ${fields} from (${merged.join(' union all ')}) k,
      lateral (select * from orders o where ${conditions.join(' and ')} offset 0) o
    order by k.at ${way}, k.order_no ${way} limit ${last}`;
  return { text: toText(list), values, byIndex: true };
}

const LIST_FIELDS = `${ORDER_FIELDS}, ${epochMicros('k.at')} as "listMicros",
  (select c.app_id from channels c where c.channel_id = o.channel_id) as "appId"`;

/** Reads up to `limit` matching orders after the given position. */
export async function readOrders(
  db: Queryable,
  filter: OrderFilter,
  after: OrderListKey | undefined,
  limit: number,
): Promise<ListedOrder[]> {
  const { values, ...list } = await orderListQuery(db, filter, after, limit);
  return db.query<ListedOrder>(list, values);
}

export interface OrderSums extends Counted {
  readonly totalPaidAmountCent: number;
  readonly totalRefundAmountCent: number;
}

/** Counts the matching orders up to `most`, and sums their payments and refunds. */
export async function sumOrders(db: Queryable, filter: OrderFilter, most: number): Promise<OrderSums> {
  const { values, ...sums } = await orderListQuery(db, filter, undefined, most + 1, (list) =>
    countSql(
      list('o.paid_amount_cent, o.refund_amount_cent'),
      most,
      `coalesce(sum(f.paid_amount_cent), 0)::bigint as "totalPaidAmountCent",
       coalesce(sum(f.refund_amount_cent), 0)::bigint as "totalRefundAmountCent"`,
    ),
  );
  const [row] = await db.query<OrderSums>(sums, values);
  if (!row) throw new Error('a count has a row');
  return row;
}
