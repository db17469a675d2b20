import type { PaymentStatus } from '@perennial/wire';
import type { Queryable } from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros, fromEpochMs, shanghaiText } from '../../platform/db/time-sql.js';
import { WAITING_FOR_RETRY_STATUSES } from '../../subscriptions/domain/payments/payment-states.js';
import { paymentStatusIs } from '../../subscriptions/store/statuses-sql.js';

/** Periods whose latest attempt failed. Times in Unix milliseconds, by when it failed: `from` inclusive, `to` exclusive. */
export interface FailedFilter {
  readonly status?: FailedStatus | undefined;
  readonly reason?: string | undefined;
  readonly paymentChannelCode?: string | undefined;
  readonly channelId?: number | undefined;
  readonly productCode?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export const FAILED_STATUSES = ['FAIL_RETRY', 'FAIL'] as const satisfies readonly PaymentStatus[];
export type FailedStatus = (typeof FAILED_STATUSES)[number];

/** What the list is sorted by, in Unix microseconds, and which period it is. */
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
  readonly tries: number;
  readonly failedAt: string;
  readonly nextTryAt: string | null;
  readonly micros: number;
}

export interface FailedStretch {
  readonly found: readonly FailedPayment[];
  /** How many periods or attempts were looked at. */
  readonly walked: number;
  readonly last: FailedKey | undefined;
}

/** Texts are compared and indexed by so many characters: a reason may be longer than an index takes. */
const INDEXED_REASON = 100;

/**
 * Looks at so many of those that may match, and no further, so that a filter that hardly anything matches takes many short
 * statements in place of an endless one. What waits for its retry is walked by when that is, the soonest first: they are few.
 * Everything else is walked by its failed attempts, the latest first. The text depends on the filter, so that each finds its
 * index.
 */
export async function readFailedPayments(
  db: Queryable,
  filter: FailedFilter,
  after: FailedKey | undefined,
  { walk, limit }: { readonly walk: number; readonly limit: number },
): Promise<FailedStretch> {
  const { values, ...question } = failedPaymentsQuery(filter, after, walk, limit);
  const rows = await db.query<FailedRow>(question, values);
  const [first] = rows;
  if (!first) throw new Error('a stretch has an end');
  const { walked, lastMicros, lastNo, lastCycle } = first;
  return {
    found: rows.flatMap(({ walked: _1, lastMicros: _2, lastNo: _3, lastCycle: _4, ...payment }) =>
      payment.orderNo === null ? [] : [payment as FailedPayment],
    ),
    walked,
    last: lastMicros === null || lastNo === null || lastCycle === null ? undefined : [lastMicros, lastNo, lastCycle],
  };
}

type FailedRow = { readonly [Field in keyof FailedPayment]: FailedPayment[Field] | null } & {
  readonly walked: number;
  readonly lastMicros: number | null;
  readonly lastNo: number | null;
  readonly lastCycle: number | null;
};

export function failedPaymentsQuery(
  filter: FailedFilter,
  after: FailedKey | undefined,
  walk: number,
  limit: number,
): { readonly text: string; readonly byIndex: true; readonly values: readonly unknown[] } {
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const isWaiting = filter.status === 'FAIL_RETRY';
  const [way, back] = isWaiting ? ['asc', 'desc'] : ['desc', 'asc'];
  const walked = isWaiting ? walkWaiting(after, walk, value) : walkFailedAttempts(filter, after, walk, value);
  // Each row is judged before the next table is looked into.
  const attempts = isWaiting
    ? `(select w.at, d.* from walked w,
         lateral (select * from payments p where p.order_no = w.order_no and p.cycle_no = w.cycle_no offset 0) p,
         lateral (select * from debit_attempts d
           where d.order_no = w.order_no and d.cycle_no = w.cycle_no and d.try_no = p.attempts offset 0) d) a`
    : 'walked a';
  const statuses: readonly PaymentStatus[] = filter.status === undefined ? FAILED_STATUSES : [filter.status];
  const attemptConditions = judgeAttempt(filter, isWaiting, value);
  const text = `with walked as materialized (${walked}), ends as (
      select (select count(*)::integer from walked) as walked, ${epochMicros('l.at')} as micros, l.order_no, l.cycle_no
      from (select) one left join (
        select * from walked w order by w.at ${back}, w.order_no ${back}, w.cycle_no ${back} limit 1) l on true
    ), matching as (
      select a.at as list_at, a.order_no, a.cycle_no, a.channel_id, o.product_code, o.next_due_at, p.status, p.amount_cent,
        p.attempts, a.payment_channel_code, a.reason, a.settled_at
      from (select * from ${attempts} ${attemptConditions.length === 0 ? '' : `where ${attemptConditions.join(' and ')}`} offset 0) a,
        lateral (select * from payments p where p.order_no = a.order_no and p.cycle_no = a.cycle_no and p.attempts = a.try_no
          and ${paymentStatusIs('p.status', ...statuses)} offset 0) p,
        lateral (select * from orders o where o.order_no = a.order_no offset 0) o
      ${filter.productCode === undefined ? '' : `where o.product_code = ${value(filter.productCode)}`}
      order by a.at ${way}, a.order_no ${way}, a.cycle_no ${way} limit ${value(limit)}
    )
    select e.walked, e.micros as "lastMicros", e.order_no as "lastNo", e.cycle_no as "lastCycle", m.order_no as "orderNo",
      m.cycle_no as "cycleNo", (select c.app_id from channels c where c.channel_id = m.channel_id) as "appId",
      m.product_code as "productCode", m.payment_channel_code as "paymentChannelCode", m.status as "paymentStatus",
      m.amount_cent as "amountCent", m.reason, m.attempts as tries, ${shanghaiText('m.settled_at')} as "failedAt",
      case when ${paymentStatusIs('m.status', ...WAITING_FOR_RETRY_STATUSES)} then ${shanghaiText('m.next_due_at')} end as "nextTryAt",
      ${epochMicros('m.list_at')} as micros
    from ends e left join matching m on true order by m.list_at ${way}, m.order_no ${way}, m.cycle_no ${way}`;
  return { text, byIndex: true, values };
}

/** By the index of orders whose next step may need no debit, to the letter as that has its condition. */
function walkWaiting(after: FailedKey | undefined, walk: number, value: (given: unknown) => string): string {
  const place =
    after === undefined
      ? ''
      : `and (o.next_due_at, o.order_no) > (${fromEpochMicros(value(after[0]))}, ${value(after[1])})`;
  return `select o.next_due_at as at, o.order_no, o.cycle_no from orders o
    where o.next_due_at is not null and o.settlement_mode = 'SVC_DEDUCT'
      and ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)} ${place}
    order by o.next_due_at, o.order_no limit ${value(walk)}`;
}

/** By their time, and by why they failed or whose they are: each has its index. */
function walkFailedAttempts(
  { reason, channelId, from, to }: FailedFilter,
  after: FailedKey | undefined,
  walk: number,
  value: (given: unknown) => string,
): string {
  const conditions = [
    `d.status = 'FAIL'`,
    ...(reason !== undefined
      ? [`left(d.reason, ${INDEXED_REASON}) = left(${value(reason)}, ${INDEXED_REASON})`]
      : channelId !== undefined
        ? [`d.channel_id = ${value(channelId)}`]
        : []),
    ...(from === undefined ? [] : [`d.settled_at >= ${fromEpochMs(value(from))}`]),
    ...(to === undefined ? [] : [`d.settled_at < ${fromEpochMs(value(to))}`]),
    ...(after === undefined
      ? []
      : [
          `(d.settled_at, d.order_no, d.cycle_no) < (${fromEpochMicros(value(after[0]))}, ${value(after[1])}, ${value(after[2])})`,
        ]),
  ];
  return `select d.settled_at as at, d.* from debit_attempts d
    where ${conditions.join(' and ')} order by d.settled_at desc, d.order_no desc, d.cycle_no desc limit ${value(walk)}`;
}

/** Conditions on the attempt called `a`: what it was not found by. */
function judgeAttempt(
  { reason, paymentChannelCode, channelId, from, to }: FailedFilter,
  isWaiting: boolean,
  value: (given: unknown) => string,
): string[] {
  return [
    ...(reason === undefined ? [] : [`a.reason = ${value(reason)}`]),
    ...(paymentChannelCode === undefined ? [] : [`a.payment_channel_code = ${value(paymentChannelCode)}`]),
    ...(channelId === undefined ? [] : [`a.channel_id = ${value(channelId)}`]),
    ...(isWaiting && from !== undefined ? [`a.settled_at >= ${fromEpochMs(value(from))}`] : []),
    ...(isWaiting && to !== undefined ? [`a.settled_at < ${fromEpochMs(value(to))}`] : []),
  ];
}

export interface RecoveredByTry {
  readonly tryNo: number;
  readonly payments: number;
  readonly amountCent: number;
}

/** Payments that succeeded by their second try or a later one, since a time. Without the product all is in one index. */
export async function countRecovered(
  db: Queryable,
  {
    channelId,
    paymentChannelCode,
    productCode,
  }: Pick<FailedFilter, 'channelId' | 'paymentChannelCode' | 'productCode'>,
  since: number,
): Promise<RecoveredByTry[]> {
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const conditions = [
    `d.status = 'SUCCESS' and d.try_no > 1 and d.settled_at >= ${fromEpochMs(value(since))}`,
    ...(channelId === undefined ? [] : [`d.channel_id = ${value(channelId)}`]),
    ...(paymentChannelCode === undefined ? [] : [`d.payment_channel_code = ${value(paymentChannelCode)}`]),
    ...(productCode === undefined
      ? []
      : [`(select o.product_code from orders o where o.order_no = d.order_no) = ${value(productCode)}`]),
  ];
  const text = `select d.try_no as "tryNo", count(*)::integer as payments, sum(d.amount_cent)::bigint as "amountCent"
    from debit_attempts d where ${conditions.join(' and ')} group by d.try_no order by d.try_no`;
  const question = { text, byIndex: true };
  return db.query<RecoveredByTry>(question, values);
}
