import type { DeclineKind, PaymentStatus } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import { WAITING_FOR_RETRY_STATUSES } from '../../subscriptions/domain/payments/payment-states.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import type { Stretch } from '../walk.js';

/**
 * A filter of periods whose latest attempt failed. `from` (inclusive) and `to` (exclusive) are times of failure in Unix
 * ms.
 */
export interface FailedFilter {
  readonly status?: FailedStatus | undefined;
  readonly reason?: string | undefined;
  readonly declineKind?: DeclineKind | undefined;
  readonly paymentChannelCode?: string | undefined;
  readonly channelId?: number | undefined;
  readonly productCode?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export const FAILED_STATUSES = ['FAIL_RETRY', 'FAIL'] as const satisfies readonly PaymentStatus[];
type FailedStatus = (typeof FAILED_STATUSES)[number];

/** The position in the list: the retry or failure time in Unix microseconds, and the period. */
export type FailedKey = readonly [micros: number, orderNo: number, cycleNo: number];

export interface FailedPayment {
  readonly orderNo: number;
  readonly cycleNo: number;
  readonly appId: string;
  readonly productCode: string;
  readonly paymentChannelCode: string;
  readonly paymentStatus: FailedStatus;
  readonly amountCent: number;
  readonly reason: string | null;
  readonly declineKind: DeclineKind;
  readonly tries: number;
  readonly failedAt: string;
  readonly nextTryAt: string | null;
  readonly micros: number;
}

export type FailedStretch<Found> = Stretch<Found, FailedKey>;

/** A stretch of the list to read: after which key it begins, how many rows to scan, and how many matches to return. */
interface FailedWalk {
  readonly after: FailedKey | undefined;
  readonly rows: number;
  readonly limit: number;
}

/** Reasons are indexed by this number of characters, because index entries are limited in size. */
const INDEXED_REASON = 100;

/** SQL: the kind of the decline. An attempt that an older node settled has none. */
const DECLINE_KIND = (row: 'f' | 'm') => `coalesce(${row}.decline_kind, 'OTHER')`;

/** Adds a value and returns its placeholder. */
type Value = (given: unknown) => string;

/**
 * Selects the matching rows of a stretch as `matching`, and the end of the stretch as `ends`. Scans a limited number of
 * rows, so a rare match takes many short statements instead of a very long one. Each filter has its own SQL text, so
 * that PostgreSQL can choose its index.
 */
function stretchSql(filter: FailedFilter, walk: FailedWalk, value: Value): { text: string; way: string } {
  const isWaiting = filter.status === 'FAIL_RETRY';
  const [way, back] = isWaiting ? ['asc', 'desc'] : ['desc', 'asc'];
  const conditions = conditionsOf(filter, value);
  const text = `with walked as materialized (${isWaiting ? walkWaiting(filter, walk, value) : walkFailed(filter, walk, value)}), ends as (
      select (select count(*)::integer from walked) as walked, ${epochMicros('l.at')} as micros, l.order_no, l.cycle_no
      from (select) one left join (
        select * from walked w order by w.at ${back}, w.order_no ${back}, w.cycle_no ${back} limit 1) l on true
    ), matching as (
      select * from walked f where ${conditions.join(' and ')}
      order by f.at ${way}, f.order_no ${way}, f.cycle_no ${way} limit ${value(walk.limit)}
    )`;
  return { text, way };
}

/**
 * Selects payments that wait for a retry, soonest first. Repeats the condition of a partial index, so that PostgreSQL
 * can use this index. The index also serves to find orders to complete. It therefore contains orders with a single
 * period too, which have no failed payment.
 */
function walkWaiting({ channelId }: FailedFilter, { after, rows }: FailedWalk, value: Value): string {
  const conditions = [
    `o.next_due_at is not null and o.settlement_mode = 'SVC_DEDUCT'`,
    `(o.total_cycles = 1 or ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)})`,
    ...(channelId === undefined ? [] : [`o.channel_id = ${value(channelId)}`]),
    ...(after === undefined
      ? []
      : [`(o.next_due_at, o.order_no) > (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`]),
  ];
  return `select w.at, w.order_no, w.cycle_no, f.channel_id, f.product_code, f.payment_channel_code, f.status, f.amount_cent, f.tries,
      f.reason, f.decline_kind, f.failed_at
    from (select o.next_due_at as at, o.order_no, o.cycle_no from orders o where ${conditions.join(' and ')}
        order by o.next_due_at, o.order_no limit ${value(rows)}) w
      left join lateral (select * from failed_payments f where f.order_no = w.order_no and f.cycle_no = w.cycle_no offset 0) f on true`;
}

/**
 * Selects failures for every filter other than the status FAIL_RETRY, latest first. Uses the index of one of the given
 * fields. `lead` forces this index, as in order-list-sql.ts.
 */
function walkFailed(filter: FailedFilter, { after, rows }: FailedWalk, value: Value): string {
  const { reason, declineKind, productCode, channelId } = filter;
  const lead =
    reason !== undefined
      ? { column: `left(f.reason, ${INDEXED_REASON})`, given: `left(${value(reason)}::text, ${INDEXED_REASON})` }
      : declineKind !== undefined && declineKind !== 'OTHER'
        ? { column: 'f.decline_kind', given: `${value(declineKind)}::text` }
        : productCode !== undefined
          ? { column: 'f.product_code', given: `${value(productCode)}::text` }
          : channelId !== undefined
            ? { column: 'f.channel_id', given: `${value(channelId)}::bigint` }
            : undefined;
  const conditions = [
    ...(lead === undefined ? [] : [`${lead.column} = any(array[${lead.given}])`]),
    ...rangeOf(filter, value),
    ...(after === undefined
      ? []
      : [
          `(f.failed_at, f.order_no, f.cycle_no) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])})`,
        ]),
  ];
  return `select f.failed_at as at, f.* from failed_payments f ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    order by ${lead === undefined ? '' : `${lead.column} desc, `}f.failed_at desc, f.order_no desc, f.cycle_no desc limit ${value(rows)}`;
}

/** Conditions on the failed payment `f`. */
function conditionsOf(filter: FailedFilter, value: Value): string[] {
  const equal = (column: string, given: unknown) => (given === undefined ? [] : [`${column} = ${value(given)}`]);
  const { status } = filter;
  return [
    paymentStatusIs('f.status', ...(status === undefined ? FAILED_STATUSES : [status])),
    ...equal('f.reason', filter.reason),
    ...equal(DECLINE_KIND('f'), filter.declineKind),
    ...equal('f.payment_channel_code', filter.paymentChannelCode),
    ...equal('f.channel_id', filter.channelId),
    ...equal('f.product_code', filter.productCode),
    ...rangeOf(filter, value),
  ];
}

const rangeOf = ({ from, to }: FailedFilter, value: Value): string[] => [
  ...(from === undefined ? [] : [`f.failed_at >= ${fromEpochMs(value(from))}`]),
  ...(to === undefined ? [] : [`f.failed_at < ${fromEpochMs(value(to))}`]),
];

interface EndRow {
  readonly walked: number;
  readonly lastMicros: number | null;
  readonly lastNo: number | null;
  readonly lastCycle: number | null;
}

const END_FIELDS = 'e.walked, e.micros as "lastMicros", e.order_no as "lastNo", e.cycle_no as "lastCycle"';

function toStretch<Row extends EndRow, Found>(rows: readonly Row[], found: Found): FailedStretch<Found> {
  const [first] = rows;
  if (!first) throw new Error('a stretch has an end');
  const { walked, lastMicros, lastNo, lastCycle } = first;
  const last =
    lastMicros === null || lastNo === null || lastCycle === null
      ? undefined
      : ([lastMicros, lastNo, lastCycle] as const);
  return { found, walked, last };
}

export async function readFailedPayments(
  db: Queryable,
  filter: FailedFilter,
  walk: FailedWalk,
): Promise<FailedStretch<readonly FailedPayment[]>> {
  const { values, ...question } = failedPaymentsQuery(filter, walk);
  const rows = await db.query<Maybe<FailedPayment>>(question, values);
  const found = rows.flatMap(({ walked: _1, lastMicros: _2, lastNo: _3, lastCycle: _4, ...payment }) =>
    payment.orderNo === null ? [] : [payment as FailedPayment],
  );
  return toStretch(rows, found);
}

export function failedPaymentsQuery(filter: FailedFilter, walk: FailedWalk) {
  const values: unknown[] = [];
  const stretch = stretchSql(filter, walk, (given) => `$${values.push(given)}`);
  const nextTry = `(select ${shanghaiText('o.next_due_at')} from orders o where o.order_no = m.order_no)`;
  const text = `${stretch.text}
    select ${END_FIELDS}, m.order_no as "orderNo", m.cycle_no as "cycleNo",
      (select c.app_id from channels c where c.channel_id = m.channel_id) as "appId", m.product_code as "productCode",
      m.payment_channel_code as "paymentChannelCode", m.status as "paymentStatus", m.amount_cent as "amountCent", m.reason,
      ${DECLINE_KIND('m')} as "declineKind", m.tries,
      ${shanghaiText('m.failed_at')} as "failedAt",
      case when ${paymentStatusIs('m.status', ...WAITING_FOR_RETRY_STATUSES)} then ${nextTry} end as "nextTryAt",
      ${epochMicros('m.at')} as micros
    from ends e left join matching m on true order by m.at ${stretch.way}, m.order_no ${stretch.way}, m.cycle_no ${stretch.way}`;
  return { text, byIndex: true, values };
}

/** Failed payments with the same reason, kind, payment channel and number of attempts. */
interface FailedGroup extends RecoveredByTry {
  readonly reason: string | null;
  readonly declineKind: DeclineKind;
  readonly paymentChannelCode: string;
}

/** A row of a left join. Its fields are null if the joined side has no row. */
type Maybe<Row> = EndRow & { readonly [Field in keyof Row]: Row[Field] | null };

export async function sumFailedPayments(
  db: Queryable,
  filter: FailedFilter,
  walk: FailedWalk,
): Promise<FailedStretch<readonly FailedGroup[]>> {
  const values: unknown[] = [];
  const { text } = stretchSql(filter, walk, (given) => `$${values.push(given)}`);
  const question = {
    text: `${text}
      select ${END_FIELDS}, g.* from ends e left join (
        select m.reason, ${DECLINE_KIND('m')} as "declineKind", m.payment_channel_code as "paymentChannelCode", m.tries as "tryNo", count(*)::integer as payments,
          sum(m.amount_cent)::bigint as "amountCent"
        from matching m group by 1, 2, 3, 4) g on true`,
    byIndex: true,
  };
  const rows = await db.query<Maybe<FailedGroup>>(question, values);
  const found = rows.flatMap(({ walked: _1, lastMicros: _2, lastNo: _3, lastCycle: _4, ...group }) =>
    group.payments === null ? [] : [group as FailedGroup],
  );
  return toStretch(rows, found);
}

export interface RecoveredByTry {
  readonly tryNo: number;
  readonly payments: number;
  readonly amountCent: number;
}

/**
 * Sums payments that succeeded since the given time on their second or a later attempt. Reads them latest first. If no
 * product is given, one index answers the query.
 */
export async function sumRecovered(
  db: Queryable,
  {
    channelId,
    paymentChannelCode,
    productCode,
  }: Pick<FailedFilter, 'channelId' | 'paymentChannelCode' | 'productCode'>,
  since: number,
  { after, rows: limit }: Omit<FailedWalk, 'limit'>,
): Promise<FailedStretch<readonly RecoveredByTry[]>> {
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const place =
    after === undefined
      ? ''
      : `and (d.settled_at, d.order_no, d.cycle_no) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])})`;
  const conditions = [
    ...(channelId === undefined ? [] : [`w.channel_id = ${value(channelId)}`]),
    ...(paymentChannelCode === undefined ? [] : [`w.payment_channel_code = ${value(paymentChannelCode)}`]),
    ...(productCode === undefined
      ? []
      : [`(select o.product_code from orders o where o.order_no = w.order_no) = ${value(productCode)}`]),
  ];
  const question = {
    text: `with walked as materialized (
        select d.settled_at as at, d.order_no, d.cycle_no, d.try_no, d.amount_cent, d.channel_id, d.payment_channel_code
        from debit_attempts d
        where d.status = 'SUCCESS' and d.try_no > 1 and d.settled_at >= ${fromEpochMs(value(since))} ${place}
        order by d.settled_at desc, d.order_no desc, d.cycle_no desc limit ${value(limit)}
      ), ends as (
        select (select count(*)::integer from walked) as walked, ${epochMicros('l.at')} as micros, l.order_no, l.cycle_no
        from (select) one left join (select * from walked w order by w.at, w.order_no, w.cycle_no limit 1) l on true
      )
      select ${END_FIELDS}, g.* from ends e left join (
        select w.try_no as "tryNo", count(*)::integer as payments, sum(w.amount_cent)::bigint as "amountCent" from walked w
        ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`} group by w.try_no) g on true`,
    byIndex: true,
  };
  const rows = await db.query<Maybe<RecoveredByTry>>(question, values);
  const found = rows.flatMap(({ tryNo, payments, amountCent }) =>
    tryNo === null || payments === null || amountCent === null ? [] : [{ tryNo, payments, amountCent }],
  );
  return toStretch(rows, found);
}
