import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { leaseUntil } from '../../../platform/idempotency/idempotency-sql.js';
import { BENEFIT_DAYS } from '../../domain/benefits/benefit-expiry.js';
import type { Order } from '../../domain/orders/order.js';
import { agreementStatusIs } from '../statuses-sql.js';
import type { SettledDebitRow } from './settle-debits-sql.js';

/** The settlement of a debit whose order is known as it was before, and what has to be so for it to hold. */
export interface KnownDebitRow extends SettledDebitRow {
  readonly before: Order;
  /** Milliseconds. */
  readonly now: number;
  /** The agreement that has to be in force. Null: the settlement does not depend on it. */
  readonly agreementInForce: number | null;
  /** Of a shared agreement whose order was never paid for: other channels may have its number. */
  readonly releasesNumber: boolean;
  /** The answer that is owed under an Idempotency-Key. Null: there is no key. */
  readonly answer: OwedAnswer | null;
}

export interface OwedAnswer {
  readonly key: string;
  /** Names the run of the request that may answer it. */
  readonly owner: string;
  readonly code: string;
  readonly message: string;
  readonly description: object;
}

/**
 * Settles many debits in one statement, and so in one commit, each only if everything is as it was known: the order, its open
 * attempt, the agreement in force, the idempotency row still with the same owner. Rows that are held by another transaction
 * are passed over like rows that have changed, so nobody waits here for somebody else's lock.
 *
 * The locks come in the order of docs/decisions/0010: orders, then agreements. They are granted after the statement's snapshot
 * was taken; PostgreSQL compares the conditions beside `for update` with the row as it is when its lock is granted.
 */
const SETTLE_KNOWN_DEBITS = statement({
  name: 'settle-known-debits',
  text: `
with given as materialized (
  select * from json_to_recordset($1::json) as s(order_no bigint, channel_id bigint, cycle_no integer, try_no integer,
    before_status text, before_payment_status text, before_paid_cycles integer, agreement_in_force bigint,
    settled_at timestamptz, attempt_status text, reason text, institution_ref text, paid_at timestamptz,
    payment_status text, status text, success_at timestamptz, next_due_at timestamptz, paid_cycles integer,
    paid_amount_cent bigint, latest_payment_status text, issues_benefits boolean, releases_number boolean,
    key text, owner uuid, code text, message text, data json)
), held as materialized (
  select g.order_no, g.agreement_in_force
  from given g
    join orders o on o.order_no = any(array[g.order_no])
    join debit_attempts a on a.order_no = any(array[g.order_no]) and a.cycle_no = any(array[g.cycle_no])
      and a.try_no = any(array[g.try_no])
  where o.status = g.before_status and o.cycle_no = g.cycle_no and o.latest_payment_status = g.before_payment_status
    and o.paid_cycles = g.before_paid_cycles and a.status = 'STARTED'
  order by g.order_no for update of o, a skip locked
), in_force as materialized (
  select g.agreement_id from agreements g
  where g.agreement_id = any(array(select agreement_in_force from held)) and ${agreementStatusIs('g.status', 'BIND_SUCCESS')}
  order by g.agreement_id for no key update skip locked
), ready as materialized (
  select g.* from given g join held h using (order_no)
  where g.agreement_in_force is null or g.agreement_in_force in (select agreement_id from in_force)
), answered as (
  update idempotency i set state = 'DESCRIBED', lease_until = ${leaseUntil(`'DESCRIBED'`)}, code = r.code,
    message = r.message, data = r.data::text
  from ready r where i.channel_id = any(array[r.channel_id]) and i.key = any(array[r.key]) and i.owner = r.owner
    and i.state = 'RUNNING'
  returning r.order_no
), settled as materialized (
  select * from ready r where r.key is null or r.order_no in (select order_no from answered)
), attempts as (
  update debit_attempts a set status = s.attempt_status, reason = s.reason, institution_ref = s.institution_ref,
    paid_at = s.paid_at, settled_at = s.settled_at, ask_at = null
  from settled s where a.order_no = any(array[s.order_no]) and a.cycle_no = any(array[s.cycle_no])
    and a.try_no = any(array[s.try_no])
), periods as (
  update payments p set status = s.payment_status, paid_at = s.paid_at
  from settled s where p.order_no = any(array[s.order_no]) and p.cycle_no = any(array[s.cycle_no])
), released as (
  update agreements g set number_released = true
  from settled s where s.releases_number and g.agreement_id = any(array[s.agreement_in_force])
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
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
  select m.channel_id, e.order_no, e."eventType", e."cycleNo", e."cycleTo", m.settled_at, e.data
  from json_to_recordset($2::json) as e(order_no bigint, turn integer, "eventType" text, "cycleNo" integer,
    "cycleTo" integer, data text) join moved m using (order_no)
  order by e.order_no, e.turn
)
select order_no as "orderNo" from moved`,
  parameters: ['json', 'json'],
  columns: columns<{ orderNo: number }>({ orderNo: 'bigint' }),
});

/** The orders of those that were settled. Of the others nothing was written. Each order comes at most once. */
export async function settleKnownDebits(db: Queryable, rows: readonly KnownDebitRow[]): Promise<ReadonlySet<number>> {
  const settled = await db.query(SETTLE_KNOWN_DEBITS, [
    JSON.stringify(rows.map(toGivenColumns)),
    JSON.stringify(
      rows.flatMap(({ order, events }) => events.map((event, turn) => ({ order_no: order.orderNo, turn, ...event }))),
    ),
  ]);
  return new Set(settled.map(({ orderNo }) => orderNo));
}

function toGivenColumns({ attempt, before, order, payment, answer, ...row }: KnownDebitRow) {
  return {
    order_no: order.orderNo,
    channel_id: order.channelId,
    cycle_no: attempt.cycleNo,
    try_no: attempt.tryNo,
    before_status: before.status,
    before_payment_status: before.latestPaymentStatus,
    before_paid_cycles: before.paidCycles,
    agreement_in_force: row.agreementInForce,
    settled_at: toIso(row.now),
    attempt_status: row.attemptStatus,
    reason: row.reason,
    institution_ref: row.institutionRef,
    paid_at: toIsoOrNull(payment.paidAt),
    payment_status: payment.status,
    status: order.status,
    success_at: toIsoOrNull(order.successAt),
    next_due_at: toIsoOrNull(order.nextDueAt),
    paid_cycles: order.paidCycles,
    paid_amount_cent: order.paidAmountCent,
    latest_payment_status: order.latestPaymentStatus,
    issues_benefits: row.issuesBenefits,
    releases_number: row.releasesNumber,
    key: answer?.key ?? null,
    owner: answer?.owner ?? null,
    code: answer?.code ?? null,
    message: answer?.message ?? null,
    data: answer?.description ?? null,
  };
}

const toIso = (at: number) => new Date(at).toISOString();
const toIsoOrNull = (at: number | null) => (at === null ? null : toIso(at));
