import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import { hasFewOrders, ofOrdersSql } from '../orders/order-list-sql.js';
import { type Counted, countSql } from '../paging.js';

/** The lists: the debits sent to institutions (one row for each attempt), and the refunds. */
export type Listed = 'debits' | 'refunds';

export const LISTED_STATUSES = ['STARTED', 'SUCCESS', 'FAIL', 'OUTSIDE'] as const;
type ListedStatus = (typeof LISTED_STATUSES)[number];

/** A filter of debits or refunds. Times are Unix milliseconds of the start; `from` is inclusive, `to` is exclusive. */
export interface ListedFilter {
  readonly status?: ListedStatus | undefined;
  readonly channelId?: number | undefined;
  readonly productCode?: string | undefined;
  readonly paymentChannelCode?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Inclusive. */
  readonly amountFrom?: number | undefined;
  /** Inclusive. */
  readonly amountTo?: number | undefined;
  /** The number of the attempt in its period. Only for debits. */
  readonly tryNo?: number | undefined;
}

/** The position in a list: the start in Unix microseconds, the period, and the number of the attempt or refund. */
export type ListedKey = readonly [micros: number, orderNo: number, cycleNo: number, seq: number];

export interface ListedMoney {
  readonly orderNo: number;
  readonly cycleNo: number;
  /** The number of the attempt, or of the refund, in its period. */
  readonly seq: number;
  readonly appId: string;
  readonly productCode: string;
  readonly externalOrderNo: string;
  readonly paymentChannelCode: string;
  readonly status: ListedStatus;
  /** The current status of the period. */
  readonly paymentStatus: string;
  readonly amountCent: number;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly settledAt: string | null;
  /** The institution's time of the debit or refund. */
  readonly doneAt: string | null;
  /** When the institution is queried next. Null if the result is final. */
  readonly askAt: string | null;
  /** The institution's own number of the debit or refund. */
  readonly institutionRef: string | null;
  /** Null for debits. */
  readonly requestedBy: string | null;
  readonly micros: number;
}

const TABLES = {
  debits: { table: 'debit_attempts', seq: 't.try_no', doneAt: 't.paid_at' },
  refunds: { table: 'refunds', seq: 't.refund_seq', doneAt: 't.refunded_at' },
} as const;

/** Adds a value and returns its placeholder. */
type Value = (given: unknown) => string;

/** Conditions on a row `t`. */
function conditionsOf(listed: Listed, filter: ListedFilter, value: Value): string[] {
  const compare = (left: string, given: unknown) => (given === undefined ? [] : [`${left} ${value(given)}`]);
  const { from, to } = filter;
  return [
    ...compare('t.status =', filter.status),
    ...compare('t.payment_channel_code =', filter.paymentChannelCode),
    ...compare('t.amount_cent >=', filter.amountFrom),
    ...compare('t.amount_cent <=', filter.amountTo),
    ...compare(`${TABLES[listed].seq} =`, filter.tryNo),
    ...compare('(select o.product_code from orders o where o.order_no = t.order_no) =', filter.productCode),
    ...(from === undefined ? [] : [`t.started_at >= ${fromEpochMs(value(from))}`]),
    ...(to === undefined ? [] : [`t.started_at < ${fromEpochMs(value(to))}`]),
  ];
}

/** Selects rows without a final result. Evaluated first (`offset 0`), so that PostgreSQL uses the partial index. */
const openSql = (table: string) => `(select * from ${table} where ask_at is not null offset 0)`;

/**
 * Selects up to `limit` matching rows `t` after the key, latest first: by the index of time, or of channel and time.
 * Comparing the channel with an array and sorting by it forces the latter (as `lead` in failed-payments-sql.ts does):
 * the former may have millions of other rows before a channel's first. Rows without a final result have an index of
 * their own, and are few unless an institution is down.
 */
async function listSql(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  after: ListedKey | undefined,
  limit: number,
  value: Value,
  fields: string,
): Promise<string> {
  const { table, seq } = TABLES[listed];
  const { channelId, productCode, status } = filter;
  const ofFew = async () => productCode !== undefined && (await hasFewOrders(db, filter));
  const from = status === 'STARTED' ? openSql(table) : (await ofFew()) ? ofOrdersSql(table, filter, value) : table;
  const conditions = [
    ...(channelId === undefined ? [] : [`t.channel_id = any(array[${value(channelId)}::bigint])`]),
    ...conditionsOf(listed, filter, value),
    ...(after === undefined
      ? []
      : [
          `(t.started_at, t.order_no, t.cycle_no, ${seq}) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])}, ${value(after[3])})`,
        ]),
  ];
  return `select ${fields} from ${from} t
    ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    order by ${channelId === undefined ? '' : 't.channel_id desc, '}t.started_at desc, t.order_no desc, t.cycle_no desc, ${seq} desc
    limit ${value(limit)}`;
}

/** Each filter has its own SQL text, so that it gets its own plan. Forbids sequential scans. */
export async function listedQuery(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  after: ListedKey | undefined,
  limit: number,
) {
  const { seq, doneAt } = TABLES[listed];
  const ofOrder = (column: string) => `(select ${column} from orders o where o.order_no = t.order_no)`;
  const fields = `t.order_no as "orderNo", t.cycle_no as "cycleNo", ${seq} as seq, ${ofOrder('o.product_code')} as "productCode",
      ${ofOrder('o.external_order_no')} as "externalOrderNo",
      (select c.app_id from channels c where c.channel_id = t.channel_id) as "appId",
      t.payment_channel_code as "paymentChannelCode", t.status, t.amount_cent as "amountCent", t.reason,
      (select p.status from payments p where p.order_no = t.order_no and p.cycle_no = t.cycle_no) as "paymentStatus",
      ${shanghaiText('t.started_at')} as "startedAt", ${shanghaiText('t.settled_at')} as "settledAt", ${shanghaiText(doneAt)} as "doneAt",
      ${shanghaiText('t.ask_at')} as "askAt", t.institution_ref as "institutionRef",
      ${listed === 'refunds' ? 't.requested_by' : 'null::text'} as "requestedBy", ${epochMicros('t.started_at')} as micros`;
  const values: unknown[] = [];
  const text = await listSql(db, listed, filter, after, limit, (given) => `$${values.push(given)}`, fields);
  return { text, byIndex: true, values };
}

/** Reads up to `limit` matching rows after the key. */
export async function readListed(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  after: ListedKey | undefined,
  limit: number,
): Promise<ListedMoney[]> {
  const { values, ...list } = await listedQuery(db, listed, filter, after, limit);
  return db.query<ListedMoney>(list, values);
}

export interface ListedSums extends Counted {
  readonly amountCent: number;
}

/** Counts up to `most` matching rows, and adds up their amounts. */
export async function sumListed(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  most: number,
): Promise<ListedSums> {
  const values: unknown[] = [];
  const list = await listSql(
    db,
    listed,
    filter,
    undefined,
    most + 1,
    (given) => `$${values.push(given)}`,
    't.amount_cent',
  );
  const text = countSql(list, most, 'coalesce(sum(f.amount_cent), 0)::bigint as "amountCent"');
  const sums = { text, byIndex: true };
  const [row] = await db.query<ListedSums>(sums, values);
  if (!row) throw new Error('a count has a row');
  return row;
}

/** At least the lease of a query in progress, so that no query is repeated while its answer is on its way. */
const SOON_SECONDS = 30;

export interface AskedNow {
  /** The number of queries that were brought forward. */
  readonly asked: number;
  /** The number of matching rows whose institution is queried within SOON_SECONDS anyway. */
  readonly soon: number;
  /** The number of matching rows beyond the limit. */
  readonly left: number;
}

/**
 * Brings forward the queries about the matching rows without a final result, oldest first, at most `limit`. Leaves out
 * rows that are queried soon: their query may be in progress.
 */
export async function askNow(
  db: Queryable,
  listed: Listed,
  filter: Omit<ListedFilter, 'status'> & { readonly key?: readonly [orderNo: number, cycleNo: number, seq: number] },
  limit: number,
): Promise<AskedNow> {
  const { table, seq } = TABLES[listed];
  const values: unknown[] = [];
  const value: Value = (given) => `$${values.push(given)}`;
  const { channelId, key } = filter;
  const conditions = [
    ...(key === undefined
      ? []
      : [`t.order_no = ${value(key[0])} and t.cycle_no = ${value(key[1])} and ${seq} = ${value(key[2])}`]),
    ...(channelId === undefined ? [] : [`t.channel_id = ${value(channelId)}`]),
    ...conditionsOf(listed, filter, value),
  ];
  const column = seq.slice(2);
  const text = `with open as materialized (
      select t.order_no, t.cycle_no, ${seq}, t.started_at, t.ask_at > now() + interval '${SOON_SECONDS} s' as is_later
      from ${openSql(table)} t ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    ), moved as (
      update ${table} t set ask_at = now() from (
        select d.order_no, d.cycle_no, d.${column} from open o join ${table} d using (order_no, cycle_no, ${column})
        where o.is_later and d.ask_at is not null order by o.started_at limit ${value(limit)} for update of d skip locked) o
      where t.order_no = o.order_no and t.cycle_no = o.cycle_no and ${seq} = o.${column}
      returning 1
    )
    select m.asked, n.soon, n.later - m.asked as left from (select count(*)::integer as asked from moved) m, (
      select count(*) filter (where not is_later)::integer as soon, count(*) filter (where is_later)::integer as later
      from open) n`;
  const question = { text, byIndex: true };
  const [row] = await db.query<AskedNow>(question, values);
  if (!row) throw new Error('a count has a row');
  return row;
}
