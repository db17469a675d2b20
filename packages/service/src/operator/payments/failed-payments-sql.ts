import type { DeclineKind, PaymentStatus } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import { WAITING_FOR_RETRY_STATUSES } from '../../subscriptions/domain/payments/payment-states.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { hasFewOrders, ofOrdersSql } from '../orders/order-list-sql.js';
import { type Counted, countSql } from '../paging.js';

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

/** Reasons are indexed by this number of characters, because index entries are limited in size. */
const INDEXED_REASON = 100;

/** SQL: the kind of the decline. An attempt that an older node settled has none. */
const DECLINE_KIND = `coalesce(f.decline_kind, 'OTHER')`;

/** Adds a value and returns its placeholder. */
type Value = (given: unknown) => string;

/**
 * Returns the statement of a list: up to `limit` matching rows after the key. Each filter has its own SQL text, so that
 * PostgreSQL can choose its index.
 */
export function failedPaymentsQuery(filter: FailedFilter, after: FailedKey | undefined, limit: number) {
  const values: unknown[] = [];
  const text = listSql(filter, after, limit, (given) => `$${values.push(given)}`, LIST_FIELDS);
  return { text, byIndex: true, values };
}

const LIST_FIELDS = `f.order_no as "orderNo", f.cycle_no as "cycleNo",
  (select c.app_id from channels c where c.channel_id = f.channel_id) as "appId", f.product_code as "productCode",
  f.payment_channel_code as "paymentChannelCode", f.status as "paymentStatus", f.amount_cent as "amountCent", f.reason,
  ${DECLINE_KIND} as "declineKind", f.tries, ${shanghaiText('f.failed_at')} as "failedAt",
  case when ${paymentStatusIs('f.status', ...WAITING_FOR_RETRY_STATUSES)}
    then (select ${shanghaiText('o.next_due_at')} from orders o where o.order_no = f.order_no) end as "nextTryAt"`;

function listSql(
  filter: FailedFilter,
  after: FailedKey | undefined,
  limit: number,
  value: Value,
  fields: string,
): string {
  return filter.status === 'FAIL_RETRY'
    ? waitingSql(filter, after, limit, value, fields)
    : failedSql(filter, after, limit, value, fields);
}

/**
 * Selects payments that wait for a retry, soonest first. Repeats the conditions of the engine's index, so that PostgreSQL
 * can use this index. If few orders wait, PostgreSQL sorts those of the index `orders_failed`.
 */
function waitingSql(
  filter: FailedFilter,
  after: FailedKey | undefined,
  limit: number,
  value: Value,
  fields: string,
): string {
  const waiting = [
    `w.next_due_at is not null and w.settlement_mode = 'SVC_DEDUCT'`,
    paymentStatusIs('w.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES),
    ...(filter.channelId === undefined ? [] : [`w.channel_id = ${value(filter.channelId)}`]),
    ...(after === undefined
      ? []
      : [`(w.next_due_at, w.order_no) > (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`]),
  ];
  const conditions = ['f.order_no = w.order_no', 'f.cycle_no = w.cycle_no', ...conditionsOf(filter, value)];
  return `select ${fields}, ${epochMicros('w.next_due_at')} as micros
    from orders w, lateral (select * from failed_payments f where ${conditions.join(' and ')} offset 0) f
    where ${waiting.join(' and ')} order by w.next_due_at, w.order_no limit ${value(limit)}`;
}

/**
 * Selects failures for every filter other than the status FAIL_RETRY, latest first. Uses the index of one of the given
 * fields. `lead`, the index's first column, forces this index: comparing it with an array and sorting by it, because
 * only this index has the rows sorted that way. (PostgreSQL would ignore a constant as a sort key.)
 */
function failedSql(
  filter: FailedFilter,
  after: FailedKey | undefined,
  limit: number,
  value: Value,
  fields: string,
): string {
  const { reason, declineKind, productCode, channelId } = filter;
  const lead =
    reason !== undefined
      ? { column: `left(f.reason, ${INDEXED_REASON})`, given: `left(${value(reason)}::text, ${INDEXED_REASON})` }
      : declineKind !== undefined && declineKind !== 'OTHER'
        ? { column: 'f.decline_kind', given: `${value(declineKind)}::text` }
        : productCode !== undefined
          ? { column: 'f.product_code', given: `${value(productCode)}::text`, name: 'productCode' }
          : channelId !== undefined
            ? { column: 'f.channel_id', given: `${value(channelId)}::bigint`, name: 'channelId' }
            : undefined;
  // Without a second comparison of the column, which would make it a constant.
  const others = lead?.name === undefined ? filter : { ...filter, [lead.name]: undefined };
  const conditions = [
    ...(lead === undefined ? [] : [`${lead.column} = any(array[${lead.given}])`]),
    ...conditionsOf(others, value),
    ...(after === undefined
      ? []
      : [
          `(f.failed_at, f.order_no, f.cycle_no) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])})`,
        ]),
  ];
  return `select ${fields}, ${epochMicros('f.failed_at')} as micros from failed_payments f where ${conditions.join(' and ')}
    order by ${lead === undefined ? '' : `${lead.column} desc, `}f.failed_at desc, f.order_no desc, f.cycle_no desc
    limit ${value(limit)}`;
}

/** Conditions on the failed payment `f`. */
function conditionsOf(filter: FailedFilter, value: Value): string[] {
  const equal = (column: string, given: unknown) => (given === undefined ? [] : [`${column} = ${value(given)}`]);
  const { status } = filter;
  return [
    paymentStatusIs('f.status', ...(status === undefined ? FAILED_STATUSES : [status])),
    ...equal('f.reason', filter.reason),
    ...equal(DECLINE_KIND, filter.declineKind),
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

/** Reads up to `limit` matching payments after the key. */
export async function readFailedPayments(
  db: Queryable,
  filter: FailedFilter,
  after: FailedKey | undefined,
  limit: number,
): Promise<FailedPayment[]> {
  const { values, ...list } = failedPaymentsQuery(filter, after, limit);
  return db.query<FailedPayment>(list, values);
}

/** Failed payments with the same reason, kind, payment channel and number of attempts. */
interface FailedGroup extends RecoveredByTry {
  readonly reason: string | null;
  readonly declineKind: DeclineKind;
  readonly paymentChannelCode: string;
}

/** Groups of counted rows. `isAtLeast` is true if there are more rows than were counted. */
export interface Groups<Group> {
  readonly groups: readonly Group[];
  readonly isAtLeast: boolean;
}

async function readGroups<Group extends { readonly payments: number }>(
  db: Queryable,
  text: string,
  values: readonly unknown[],
): Promise<Groups<Group>> {
  const list = { text, byIndex: true };
  const rows = await db.query<Omit<Group, 'payments'> & Counted>(list, values);
  return {
    groups: rows.map(({ count, isAtLeast: _, ...group }) => ({ ...group, payments: count }) as unknown as Group),
    isAtLeast: rows[0]?.isAtLeast ?? false,
  };
}

/** Counts up to `most` matching payments, in groups. */
export function sumFailedPayments(db: Queryable, filter: FailedFilter, most: number): Promise<Groups<FailedGroup>> {
  const values: unknown[] = [];
  const fields = `f.reason, ${DECLINE_KIND} as decline_kind, f.payment_channel_code, f.tries, f.amount_cent`;
  const list = listSql(filter, undefined, most + 1, (given) => `$${values.push(given)}`, fields);
  const sums = countSql(
    list,
    most,
    `f.reason, f.decline_kind as "declineKind", f.payment_channel_code as "paymentChannelCode", f.tries as "tryNo",
       sum(f.amount_cent)::bigint as "amountCent"`,
  );
  return readGroups(db, `${sums} group by f.reason, f.decline_kind, f.payment_channel_code, f.tries`, values);
}

export interface RecoveredByTry {
  readonly tryNo: number;
  readonly payments: number;
  readonly amountCent: number;
}

/** Sums up to `most` payments that succeeded since the given time on their second or a later attempt, latest first. */
export async function sumRecovered(
  db: Queryable,
  { channelId, paymentChannelCode, productCode }: FailedFilter,
  since: number,
  most: number,
): Promise<Groups<RecoveredByTry>> {
  const values: unknown[] = [];
  const value: Value = (given) => `$${values.push(given)}`;
  const compare = (left: string, given: unknown) => (given === undefined ? [] : [`${left} = ${value(given)}`]);
  const ofProduct = { channelId, productCode };
  const isFew = productCode !== undefined && (await hasFewOrders(db, ofProduct));
  const conditions = [
    `d.status = 'SUCCESS' and d.try_no > 1 and d.settled_at >= ${fromEpochMs(value(since))}`,
    ...compare('d.channel_id', channelId),
    ...compare('d.payment_channel_code', paymentChannelCode),
    ...compare('(select o.product_code from orders o where o.order_no = d.order_no)', productCode),
  ];
  const list = `select d.try_no, d.amount_cent
    from ${isFew ? ofOrdersSql('debit_attempts', ofProduct, value) : 'debit_attempts'} d where ${conditions.join(' and ')}
    order by d.settled_at desc, d.order_no desc, d.cycle_no desc limit ${value(most + 1)}`;
  const text = countSql(list, most, 'f.try_no as "tryNo", sum(f.amount_cent)::bigint as "amountCent"');
  return readGroups(db, `${text} group by f.try_no order by f.try_no`, values);
}
