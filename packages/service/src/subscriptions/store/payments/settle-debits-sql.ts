import type { DeclineKind } from '@perennial/wire';
import { column, columns, joinColumns, type Queryable, type RowOf, statement } from '../../../platform/db/database.js';
import { isoTime, isoTimeOrNull } from '../../../platform/db/time-sql.js';
import { BENEFIT_DAYS } from '../../domain/benefits/benefit-expiry.js';
import type { Order, Payment } from '../../domain/orders/order.js';
import type { AttemptReference } from '../../domain/orders/order-numbers.js';
import type { NewEvent } from '../events/outbox.js';
import { orderStatusIs, statusLiteral } from '../statuses-sql.js';
import { PAYMENT_COLUMNS, PAYMENT_FIELDS } from './payments-sql.js';

/** An attempt, with the data on which its settlement depends. */
export interface AttemptToSettle extends AttemptReference {
  readonly status: 'STARTED' | 'SUCCESS' | 'FAIL';
  readonly agreementId: number;
  readonly payment: Payment;
  /** The product's delays before each retry, in seconds. */
  readonly retryDelays: readonly number[];
  /** For a first debit: true if the order's agreement has ended. The agreement is locked until the transaction ends. */
  readonly agreementEnded: boolean;
  /** True if a failed period is retried by the product's schedule even after its order got a new agreement. */
  readonly retryBySchedule: boolean;
}

const FIND_ATTEMPTS_TO_SETTLE = statement({
  name: 'find-settleable',
  text: `select a.order_no as "orderNo", a.try_no as "tryNo", a.status as "attemptStatus", a.agreement_id as "agreementId",
               ${PAYMENT_FIELDS},
               (select d.retry_delays from products d where d.product_code = o.product_code) as "retryDelays",
               ${orderStatusIs('o.status', 'INITIALIZING')} and coalesce((select g.status from agreements g
                 where g.agreement_id = o.agreement_id for no key update) <> ${statusLiteral('BIND_SUCCESS')}, false) as "agreementEnded",
               coalesce(a.retry_by_schedule, false) as "retryBySchedule"
             from unnest($1::bigint[], $2::integer[], $3::integer[]) as r(order_no, cycle_no, try_no)
               join debit_attempts a using (order_no, cycle_no, try_no)
               join payments p using (order_no, cycle_no)
               join orders o using (order_no)`,
  parameters: ['bigint[]', 'integer[]', 'integer[]'],
  columns: joinColumns(
    PAYMENT_COLUMNS,
    columns({
      orderNo: 'bigint',
      tryNo: 'integer',
      attemptStatus: column<AttemptToSettle['status']>('text'),
      agreementId: 'bigint',
      retryDelays: 'integer[]',
      agreementEnded: 'boolean',
      retryBySchedule: 'boolean',
    }),
  ),
});

/**
 * Reads attempts with the data for their settlement. Call it after the orders' locks were granted: their previous
 * holders may have settled attempts. Locks the agreement of a first debit. If there are several first debits, the
 * caller must have locked their agreements by ascending id.
 */
export async function findAttemptsToSettle(
  tx: Queryable,
  references: readonly AttemptReference[],
): Promise<Map<number, AttemptToSettle>> {
  const rows = await tx.query(FIND_ATTEMPTS_TO_SETTLE, [
    references.map((r) => r.orderNo),
    references.map((r) => r.cycleNo),
    references.map((r) => r.tryNo),
  ]);
  return new Map(rows.map((row) => [row.orderNo, toAttemptToSettle(row)]));
}

function toAttemptToSettle(row: RowOf<typeof FIND_ATTEMPTS_TO_SETTLE>): AttemptToSettle {
  const { orderNo, tryNo, agreementId, retryDelays, agreementEnded, retryBySchedule } = row;
  const { cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt } = row;
  return {
    orderNo,
    cycleNo,
    tryNo,
    status: row.attemptStatus,
    agreementId,
    payment: { cycleNo, status, expectAt, paidAt, amountCent, refundAmountCent, refundAt },
    retryDelays,
    agreementEnded,
    retryBySchedule,
  };
}

export interface SettledDebitRow {
  readonly attempt: AttemptReference;
  readonly attemptStatus: 'SUCCESS' | 'FAIL';
  readonly reason: string | null;
  readonly declineKind: DeclineKind | null;
  readonly institutionRef: string | null;
  readonly order: Order;
  readonly payment: Payment;
  readonly issuesBenefits: boolean;
  readonly events: readonly NewEvent[];
}

/** The columns of `settled` that come from a SettledDebitRow, in the syntax of json_to_recordset. */
export const SETTLED_COLUMNS = `order_no bigint, cycle_no integer, try_no integer, attempt_status text,
    reason text, decline_kind text, institution_ref text, paid_at timestamptz, payment_status text, status text, success_at timestamptz,
    next_due_at timestamptz, paid_cycles integer, paid_amount_cent bigint, latest_payment_status text,
    issues_benefits boolean`;

/**
 * SQL: writes attempts, periods, orders and benefits for the rows of `settled`, which also have `settled_at`. The CTE
 * `moved` returns the changed orders. `= any(array[…])` makes PostgreSQL look rows up one by one. Otherwise it could
 * keep a plan made for a small table, and read the whole table.
 */
export const WRITE_SETTLED = `attempts as (
  update debit_attempts a set status = s.attempt_status, reason = s.reason, decline_kind = s.decline_kind, institution_ref = s.institution_ref,
    paid_at = s.paid_at, settled_at = s.settled_at, ask_at = null
  from settled s where a.order_no = any(array[s.order_no]) and a.cycle_no = any(array[s.cycle_no])
    and a.try_no = any(array[s.try_no])
), periods as (
  update payments p set status = s.payment_status, paid_at = s.paid_at
  from settled s where p.order_no = any(array[s.order_no]) and p.cycle_no = any(array[s.cycle_no])
), moved as (
  update orders o set status = s.status, success_at = s.success_at, next_due_at = s.next_due_at,
    paid_cycles = s.paid_cycles, paid_amount_cent = s.paid_amount_cent, latest_payment_status = s.latest_payment_status
  from settled s where o.order_no = any(array[s.order_no])
  returning o.order_no, o.channel_id, o.product_code, s.cycle_no, s.settled_at, s.issues_benefits
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select m.order_no, m.cycle_no, b.position, m.channel_id, b.benefit_code, b.name, b.face_value_cent, m.settled_at,
    m.settled_at + interval '${BENEFIT_DAYS * 24} hours'
  from moved m join product_benefits b on b.product_code = any(array[m.product_code]) where m.issues_benefits
)`;

/** SQL: inserts the events in `$2` (from `toEventColumns`) for the orders that the CTE `moved` has changed. */
export const INSERT_SETTLED_EVENTS = `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
  select m.channel_id, e.order_no, e."eventType", e."cycleNo", e."cycleTo", m.settled_at, e.data
  from json_to_recordset($2::json) as e(order_no bigint, turn integer, "eventType" text, "cycleNo" integer,
    "cycleTo" integer, data text) join moved m using (order_no)
  order by e.order_no, e.turn`;

/** Stores all settlements of a batch in one statement. The caller holds the orders' locks. */
const STORE_SETTLED_DEBITS = statement({
  name: 'store-settled',
  text: `
with settled as materialized (
  select s.*, $3::timestamptz as settled_at from json_to_recordset($1::json) as s(${SETTLED_COLUMNS})
), ${WRITE_SETTLED}
${INSERT_SETTLED_EVENTS}`,
  parameters: ['json', 'json', 'timestamp with time zone'],
});

export async function storeSettledDebits(tx: Queryable, rows: readonly SettledDebitRow[], now: number): Promise<void> {
  await tx.query(STORE_SETTLED_DEBITS, [
    JSON.stringify(rows.map(toSettledColumns)),
    JSON.stringify(toEventColumns(rows)),
    isoTime(now),
  ]);
}

export const toEventColumns = (rows: readonly SettledDebitRow[]) =>
  rows.flatMap(({ order, events }) =>
    events.map(({ eventType, cycleNo, cycleTo, data }, turn) => ({
      order_no: order.orderNo,
      turn,
      eventType,
      cycleNo,
      cycleTo,
      data,
    })),
  );

export function toSettledColumns(row: SettledDebitRow) {
  const { attempt, order, payment } = row;
  return {
    order_no: order.orderNo,
    cycle_no: attempt.cycleNo,
    try_no: attempt.tryNo,
    attempt_status: row.attemptStatus,
    reason: row.reason,
    decline_kind: row.declineKind,
    institution_ref: row.institutionRef,
    paid_at: isoTimeOrNull(payment.paidAt),
    payment_status: payment.status,
    status: order.status,
    success_at: isoTimeOrNull(order.successAt),
    next_due_at: isoTimeOrNull(order.nextDueAt),
    paid_cycles: order.paidCycles,
    paid_amount_cent: order.paidAmountCent,
    latest_payment_status: order.latestPaymentStatus,
    issues_benefits: row.issuesBenefits,
  };
}
