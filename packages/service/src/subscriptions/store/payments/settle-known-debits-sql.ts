import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { isoTime } from '../../../platform/db/time-sql.js';
import { leaseUntil } from '../../../platform/idempotency/idempotency-sql.js';
import type { Order } from '../../domain/orders/order.js';
import { agreementStatusIs } from '../statuses-sql.js';
import {
  INSERT_SETTLED_EVENTS,
  SETTLED_COLUMNS,
  type SettledDebitRow,
  toEventColumns,
  toSettledColumns,
  WRITE_SETTLED,
} from './settle-debits-sql.js';

/** A planned settlement of a debit. It is valid only if the order is still as in `before`. */
export interface KnownSettlement {
  readonly settled: SettledDebitRow;
  readonly before: Order;
  /** Unix milliseconds. */
  readonly now: number;
  /** The agreement that must still be bound. Null if the settlement does not depend on it. */
  readonly agreementInForce: number | null;
  /** True if the shared agreement releases its number to other channels, because its order was never paid. */
  readonly releasesNumber: boolean;
}

export interface KnownDebitRow {
  readonly settlement: KnownSettlement;
  /** The answer to store for the request's idempotency key. Null if the request has no key. */
  readonly answer: OwedAnswer | null;
}

export interface OwedAnswer {
  readonly key: string;
  /** The id of the request's execution that began the work. Only this execution may store the answer. */
  readonly owner: string;
  readonly code: string;
  readonly message: string;
  readonly description: object;
}

/**
 * Settles many debits in one statement and commit, each only if everything is as planned: the order, its open attempt,
 * the agreement in force, and the owner of the idempotency row. Skips rows that have changed or are locked by a
 * different transaction, so it does not wait for locks on orders, attempts or agreements.
 *
 * The values to write and the conditions are passed as two lists, because one object for both was slow to create. The
 * n-th rows of the two lists belong together.
 *
 * Locks in the order of docs/decisions/0010: orders, then agreements. The locks are granted after the statement's
 * snapshot was taken, but a subquery with `for update` compares and returns the row as of the grant. Such a subquery
 * also looks up each row by its key. A join could be planned for small tables, and would then read whole tables.
 */
const SETTLE_KNOWN_DEBITS = statement({
  name: 'settle-known-debits',
  text: `
with given as materialized (
  select * from rows from (
    json_to_recordset($1::json) as (${SETTLED_COLUMNS}),
    json_to_recordset($3::json) as (channel_id bigint, before_status text, before_payment_status text,
      before_paid_cycles integer, before_attempt_status text, agreement_in_force bigint, settled_at timestamptz,
      releases_number boolean, key text, owner uuid, code text, message text, data json)) as s
), held as materialized (
  select g.order_no, g.agreement_in_force
  from given g
    cross join lateral (
      select o.order_no from orders o
      where o.order_no = g.order_no and o.status = g.before_status and o.cycle_no = g.cycle_no
        and o.latest_payment_status = g.before_payment_status and o.paid_cycles = g.before_paid_cycles
      for update skip locked) o
    cross join lateral (
      select a.status from debit_attempts a
      where a.order_no = o.order_no and a.cycle_no = g.cycle_no and a.try_no = g.try_no
      for update skip locked) a
  where a.status = g.before_attempt_status
), in_force as materialized (
  select h.agreement_id
  from (select distinct agreement_in_force as agreement_id from held order by 1) h
    cross join lateral (
      select g.status from agreements g where g.agreement_id = h.agreement_id for no key update skip locked) g
  where ${agreementStatusIs('g.status', 'BIND_SUCCESS')}
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
), released as (
  update agreements g set number_released = true
  from settled s where s.releases_number and g.agreement_id = any(array[s.agreement_in_force])
), ${WRITE_SETTLED}, new_events as (
  ${INSERT_SETTLED_EVENTS}
)
select order_no as "orderNo" from moved`,
  parameters: ['json', 'json', 'json'],
  columns: columns({ orderNo: 'bigint' }),
});

/**
 * Settles debits and returns the numbers of the settled orders. For other orders nothing was written. `rows` contains
 * each order at most once.
 */
export async function settleKnownDebits(db: Queryable, rows: readonly KnownDebitRow[]): Promise<ReadonlySet<number>> {
  const inOrder = rows.toSorted((a, b) => a.settlement.before.orderNo - b.settlement.before.orderNo);
  const settledRows = inOrder.map(({ settlement }) => settlement.settled);
  const settled = await db.query(SETTLE_KNOWN_DEBITS, [
    JSON.stringify(settledRows.map(toSettledColumns)),
    JSON.stringify(toEventColumns(settledRows)),
    JSON.stringify(inOrder.map(toKnownColumns)),
  ]);
  return new Set(settled.map(({ orderNo }) => orderNo));
}

function toKnownColumns({ settlement, answer }: KnownDebitRow) {
  const { before } = settlement;
  return {
    channel_id: before.channelId,
    before_status: before.status,
    before_payment_status: before.latestPaymentStatus,
    before_paid_cycles: before.paidCycles,
    // A parameter instead of a literal: with a literal, the planner would read the index of all open attempts.
    before_attempt_status: 'STARTED',
    agreement_in_force: settlement.agreementInForce,
    settled_at: isoTime(settlement.now),
    releases_number: settlement.releasesNumber,
    key: answer?.key ?? null,
    owner: answer?.owner ?? null,
    code: answer?.code ?? null,
    message: answer?.message ?? null,
    data: answer?.description ?? null,
  };
}
