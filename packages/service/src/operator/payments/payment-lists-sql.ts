import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import type { Stretch } from '../walk.js';

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

/** The columns of a row that the conditions and the lists use. Both tables have them, under these names. */
const rowFields = (listed: Listed) => {
  const { seq, doneAt } = TABLES[listed];
  return `t.started_at as at, t.order_no, t.cycle_no, ${seq} as seq, t.channel_id, t.payment_channel_code, t.status, t.amount_cent,
      t.reason, t.settled_at, ${doneAt} as done_at, t.ask_at, t.institution_ref,
      ${listed === 'refunds' ? 't.requested_by' : 'null::text'} as requested_by`;
};

/** A stretch of the list to read. */
export interface ListedWalk {
  readonly after: ListedKey | undefined;
  /**
   * The length of the stretch: a number of minutes, because the list is merged from the lists of all channels. With the
   * status STARTED a number of rows.
   */
  readonly length: number;
  /** The maximum number of matches to return. */
  readonly limit: number;
}

/** The maximum number of rows in one stretch of minutes. */
const MAX_WALKED = 4_000;

/** Adds a value and returns its placeholder. */
type Value = (given: unknown) => string;

/** Conditions on a row `t`, except those on its channel and its time. `t` has the columns of `rowFields`. */
function conditionsOf(filter: ListedFilter, value: Value, seq = 't.seq'): string[] {
  const compare = (left: string, given: unknown) => (given === undefined ? [] : [`${left} ${value(given)}`]);
  return [
    ...compare('t.status =', filter.status),
    ...compare('t.payment_channel_code =', filter.paymentChannelCode),
    ...compare('t.amount_cent >=', filter.amountFrom),
    ...compare('t.amount_cent <=', filter.amountTo),
    ...compare(`${seq} =`, filter.tryNo),
    ...compare('(select o.product_code from orders o where o.order_no = t.order_no) =', filter.productCode),
  ];
}

const rangeOf = ({ from, to }: ListedFilter, value: Value): string[] => [
  ...(from === undefined ? [] : [`t.started_at >= ${fromEpochMs(value(from))}`]),
  ...(to === undefined ? [] : [`t.started_at < ${fromEpochMs(value(to))}`]),
];

const and = (conditions: readonly string[]) => conditions.map((one) => ` and ${one}`).join('');

/**
 * Selects the rows of a stretch as `walked`, its end as `ends`, and the matching rows as `matching`, latest first. Reads
 * each channel's rows by the index of channel and time. A stretch covers some minutes, and the next stretch begins at
 * the next row of any channel. Without windows of time, each channel would supply as many rows as the whole stretch.
 */
function stretchSql(listed: Listed, filter: ListedFilter, walk: ListedWalk, value: Value): string {
  const walked = filter.status === 'STARTED' ? walkOpen : walkWindow;
  const conditions = conditionsOf(filter, value);
  return `with ${walked(listed, filter, walk, value)}, matching as (
      select * from walked t ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
      order by t.at desc, t.order_no desc, t.cycle_no desc, t.seq desc limit ${value(walk.limit)}
    )`;
}

const beforeKey = (listed: Listed, after: ListedKey | undefined, value: Value): string[] =>
  after === undefined
    ? []
    : [
        `(t.started_at, t.order_no, t.cycle_no, ${TABLES[listed].seq}) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])}, ${value(after[3])})`,
      ];

/** Selects rows without a final result. Evaluated first (`offset 0`), so that PostgreSQL uses the partial index. */
const openSql = (table: string) => `(select * from ${table} where ask_at is not null offset 0)`;

/** Selects rows without a final result. They have an index of their own, and are few unless an institution is down. */
function walkOpen(listed: Listed, filter: ListedFilter, { after, length }: ListedWalk, value: Value): string {
  const { table } = TABLES[listed];
  const channel = filter.channelId === undefined ? [] : [`t.channel_id = ${value(filter.channelId)}`];
  const all = [...channel, ...rangeOf(filter, value), ...beforeKey(listed, after, value)];
  return `walked as materialized (
      select ${rowFields(listed)} from ${openSql(table)} t ${all.length === 0 ? '' : `where ${all.join(' and ')}`}
      order by at desc, order_no desc, cycle_no desc, seq desc limit ${value(length)}
    ), ends as (
      select (select count(*)::integer from walked) as walked, ${epochMicros('l.at')} as micros, l.order_no, l.cycle_no, l.seq
      from (select) one left join (select * from walked w order by w.at, w.order_no, w.cycle_no, w.seq limit 1) l on true
    )`;
}

function walkWindow(listed: Listed, filter: ListedFilter, { after, length }: ListedWalk, value: Value): string {
  const { table, seq } = TABLES[listed];
  const range = rangeOf(filter, value);
  const minutes = value(length);
  const asked =
    filter.channelId === undefined
      ? 'select channel_id from channels'
      : `select ${value(filter.channelId)}::bigint as channel_id`;
  const latest = (conditions: readonly string[]) => `(select max(l.at) from asked c, lateral (
        select t.started_at as at from ${table} t where t.channel_id = c.channel_id${and(conditions)}
        order by t.started_at desc limit 1) l)`;
  const begin = after === undefined ? latest(range) : fromEpochMicros(value(after[0]));
  const within = [...range, 't.started_at > b.from_at', 't.started_at <= b.to_at', ...beforeKey(listed, after, value)];
  return `asked as materialized (${asked}), bounds as materialized (
      select s.at as to_at, s.at - ${minutes}::integer * interval '1 minute' as from_at from (select ${begin} as at) s
    ), walked as materialized (
      select k.* from bounds b, asked c, lateral (
        select ${rowFields(listed)} from ${table} t where t.channel_id = c.channel_id${and(within)}
        order by t.started_at desc, t.order_no desc, t.cycle_no desc, ${seq} desc limit ${MAX_WALKED}) k
      order by k.at desc, k.order_no desc, k.cycle_no desc, k.seq desc limit ${MAX_WALKED}
    ), ends as (
      select case when l.at is null then 0 else ${minutes}::integer end as walked, ${epochMicros('l.at')} + l.later as micros,
        l.order_no, l.cycle_no, l.seq
      from (select (select count(*) = ${MAX_WALKED} from walked) as is_full) w left join lateral (
        select * from (
          (select k.at, 0 as later, k.order_no, k.cycle_no, k.seq from walked k where w.is_full
            order by k.at, k.order_no, k.cycle_no, k.seq limit 1)
          union all
          -- One microsecond after the next row, so that the next stretch begins with all rows of its time.
          select ${latest([...range, 't.started_at <= (select b.from_at from bounds b)'])}, 1, 1, 1, 1 where not w.is_full
        ) l where l.at is not null) l on true
    )`;
}

interface EndRow {
  readonly walked: number;
  readonly lastMicros: number | null;
  readonly lastNo: number | null;
  readonly lastCycle: number | null;
  readonly lastSeq: number | null;
}

const END_FIELDS =
  'e.walked, e.micros as "lastMicros", e.order_no as "lastNo", e.cycle_no as "lastCycle", e.seq as "lastSeq"';

function toStretch<Found>(rows: readonly EndRow[], found: Found): Stretch<Found, ListedKey> {
  const [first] = rows;
  if (!first) throw new Error('a stretch has an end');
  const { walked, lastMicros, lastNo, lastCycle, lastSeq } = first;
  const last =
    lastMicros === null || lastNo === null || lastCycle === null || lastSeq === null
      ? undefined
      : ([lastMicros, lastNo, lastCycle, lastSeq] as const);
  return { found, walked, last };
}

/** Each filter has its own SQL text, so that it gets its own plan. Forbids sequential scans. */
export function listedQuery(listed: Listed, filter: ListedFilter, walk: ListedWalk) {
  const values: unknown[] = [];
  const stretch = stretchSql(listed, filter, walk, (given) => `$${values.push(given)}`);
  const text = `${stretch}
    select ${END_FIELDS}, m.order_no as "orderNo", m.cycle_no as "cycleNo", m.seq, o.product_code as "productCode",
      o.external_order_no as "externalOrderNo", (select c.app_id from channels c where c.channel_id = m.channel_id) as "appId",
      m.payment_channel_code as "paymentChannelCode", m.status, m.amount_cent as "amountCent", m.reason,
      (select p.status from payments p where p.order_no = m.order_no and p.cycle_no = m.cycle_no) as "paymentStatus",
      ${shanghaiText('m.at')} as "startedAt", ${shanghaiText('m.settled_at')} as "settledAt", ${shanghaiText('m.done_at')} as "doneAt",
      ${shanghaiText('m.ask_at')} as "askAt", m.institution_ref as "institutionRef", m.requested_by as "requestedBy",
      ${epochMicros('m.at')} as micros
    from ends e left join matching m on true left join orders o on o.order_no = m.order_no
    order by m.at desc, m.order_no desc, m.cycle_no desc, m.seq desc`;
  return { text, byIndex: true, values };
}

export async function readListed(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  walk: ListedWalk,
): Promise<Stretch<readonly ListedMoney[], ListedKey>> {
  const { values, ...question } = listedQuery(listed, filter, walk);
  const rows = await db.query<EndRow & { readonly [Field in keyof ListedMoney]: ListedMoney[Field] | null }>(
    question,
    values,
  );
  const found = rows.flatMap(({ walked: _1, lastMicros: _2, lastNo: _3, lastCycle: _4, lastSeq: _5, ...row }) =>
    row.orderNo === null ? [] : [row as ListedMoney],
  );
  return toStretch(rows, found);
}

export interface ListedSums {
  readonly count: number;
  readonly amountCent: number;
}

/** Counts the matching rows of a stretch up to the walk's limit, and adds up their amounts. */
export async function sumListed(
  db: Queryable,
  listed: Listed,
  filter: ListedFilter,
  walk: ListedWalk,
): Promise<Stretch<ListedSums, ListedKey>> {
  const values: unknown[] = [];
  const stretch = stretchSql(listed, filter, walk, (given) => `$${values.push(given)}`);
  const text = `${stretch}
    select ${END_FIELDS}, s.* from ends e, (
      select count(*)::integer as count, coalesce(sum(m.amount_cent), 0)::bigint as "amountCent" from matching m) s`;
  const question = { text, byIndex: true };
  const rows = await db.query<EndRow & ListedSums>(question, values);
  const [{ count, amountCent } = { count: 0, amountCent: 0 }] = rows;
  return toStretch(rows, { count, amountCent });
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
    ...rangeOf(filter, value),
    ...conditionsOf(filter, value, seq),
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
