import {
  columns,
  declareRequire,
  type Queryable,
  queryOne,
  requireOne,
  statement,
} from '../../../platform/db/database.js';
import { isoTime, shanghaiText } from '../../../platform/db/time-sql.js';
import { BENEFIT_DAYS } from '../../domain/benefits/benefit-expiry.js';
import { afterPeriodsSql } from '../../domain/orders/calendar.js';
import { requireOrderTransition } from '../../domain/orders/order-states.js';
import { requirePaymentTransition } from '../../domain/payments/payment-states.js';
import { completedOrderPayloadSql, paymentPayloadSql } from '../events/event-payload-sql.js';
import { orderStatusIs, statusLiteral } from '../statuses-sql.js';
import type { DueBatch, DueCursor } from './due-orders-sql.js';

/**
 * The number of billing lanes: groups of due orders that are billed in parallel. An order's lane is its number modulo
 * this number, also in the index of due orders.
 */
export const BILLING_LANES = 4;

/** The first key of the advisory locks of billing lanes: 'bill' in ASCII. */
const LANE_LOCK_CLASS = 0x62696c6c;

/** The status of a period after its billing. */
const BILLED = requirePaymentTransition('WAIT', 'billed').to;
/** The status of an order after its last period. */
const COMPLETED = requireOrderTransition('ACTIVE', 'last-period-settled').to;

/** SQL: matches the due orders of lane $3 after the cursor ($1 and $2), by the database's clock. */
const DUE_IN_LANE = `o.settlement_mode = 'CHANNEL_COLLECT' and o.order_no % ${BILLING_LANES} = $3 and o.next_due_at <= now()
    and (o.next_due_at, o.order_no) > ($1::timestamptz, $2::bigint)`;
const BY_DUE_TIME = 'order by o.next_due_at, o.order_no';

/**
 * SQL, mode B: bills the next period of every order that matches `which`, in one statement and commit. An order is
 * advanced by one period under its row lock, and only if it is still due then. Its period, benefits, events and
 * completion are derived from the updated rows. So no period is billed twice, even if several nodes run this
 * concurrently. If a period already existed, the whole statement would fail.
 *
 * An order with a single period was billed when it was created, so this statement only completes it. `moment` is SQL
 * for the time of billing, which all orders share.
 */
const billSql = (moment: string, which: string) => `
moment as materialized (
  select at, ${shanghaiText('at')} as at_text, at + interval '${BENEFIT_DAYS * 24} hours' as expires_at from (select ${moment} as at) m
), moved as (
  update orders o set cycle_no = least(o.cycle_no + 1, o.total_cycles),
    paid_cycles = o.paid_cycles + case when o.total_cycles > 1 then 1 else 0 end,
    paid_amount_cent = o.paid_amount_cent + case when o.total_cycles > 1 then o.amount_cent else 0 end,
    latest_payment_status = case when o.total_cycles > 1 then ${statusLiteral(BILLED)} else o.latest_payment_status end,
    status = case when o.cycle_no + 1 < o.total_cycles then o.status else ${statusLiteral(COMPLETED)} end,
    next_due_at = case when o.cycle_no + 1 < o.total_cycles then ${afterPeriodsSql('o.cycle_no + 1', 'o')} end
  where ${which}
  returning o.order_no, o.channel_id, o.status, o.external_order_no, o.channel_user_id, o.product_code, o.amount_cent, o.shared,
    o.created_at, o.success_at, o.period_type, o.period, o.total_cycles, o.paid_cycles, o.paid_amount_cent,
    o.refund_amount_cent, o.latest_payment_status, ${orderStatusIs('o.status', COMPLETED)} as is_last,
    case when o.total_cycles > 1 then o.cycle_no end as billed_no, ${afterPeriodsSql('o.cycle_no - 1', 'o')} as expect_at
), billed as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
  select d.order_no, d.billed_no, d.channel_id, ${statusLiteral(BILLED)}, d.expect_at, (select at from moment), d.amount_cent
  from moved d where d.billed_no is not null
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select d.order_no, d.billed_no, b.position, d.channel_id, b.benefit_code, b.name, b.face_value_cent,
    (select at from moment), (select expires_at from moment)
  from moved d join product_benefits b using (product_code) where d.billed_no is not null
), billed_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select d.channel_id, d.order_no, 'payment.status.changed', d.billed_no, (select at from moment),
    ${paymentPayloadSql({
      orderNo: 'd.order_no',
      externalOrderNo: 'd.external_order_no',
      channelUserId: 'd.channel_user_id',
      cycleNo: 'd.billed_no',
      expectPayTime: shanghaiText('d.expect_at'),
      paidAt: '(select at_text from moment)',
      amountCent: 'd.amount_cent',
      paymentStatus: statusLiteral(BILLED),
      agreementShareFlag: 'd.shared',
    })}
  from moved d where d.billed_no is not null
  returning order_no
), completed_events as (
  insert into events (channel_id, order_no, event_type, occurred_at, data)
  select d.channel_id, d.order_no, 'order.status.changed', (select at from moment),
    ${completedOrderPayloadSql('d')}
  -- After the event of the period: reading that event makes PostgreSQL number it first.
  from moved d where d.is_last and (d.billed_no is null or d.order_no in (select e.order_no from billed_events e))
)`;

const BILL_LANE = statement({
  name: 'bill-lane',
  text: `
with bound as materialized (
  select o.next_due_at, o.order_no from orders o where ${DUE_IN_LANE} ${BY_DUE_TIME} offset $4::integer - 1 limit 1
), ${billSql(
    `date_trunc('second', now())`,
    `${DUE_IN_LANE} and (o.next_due_at, o.order_no)
    <= (coalesce((select b.next_due_at from bound b), 'infinity'), coalesce((select b.order_no from bound b), 0))`,
  )}
select (select count(*) from moved)::integer as orders, (select b.next_due_at::text from bound b) as "dueAt",
  (select b.order_no from bound b) as "orderNo"`,
  parameters: ['timestamp with time zone', 'bigint', 'bigint', 'integer'],
  columns: columns({
    orders: 'integer',
    dueAt: 'text?',
    orderNo: 'bigint?',
  }),
});

const BILL_ORDER = statement({
  name: 'bill-one',
  text: `
with ${billSql('$2::timestamptz', `o.settlement_mode = 'CHANNEL_COLLECT' and o.order_no = $1 and o.next_due_at <= $2`)}
select count(*)::integer as orders from moved`,
  parameters: ['bigint', 'timestamp with time zone'],
  columns: columns({ orders: 'integer' }),
});

/** Bills the next due orders of a lane, at most `limit`. If one of them fails, none is billed. */
export async function billLane(db: Queryable, lane: number, after: DueCursor, limit: number): Promise<DueBatch> {
  const row = await requireOne(db, BILL_LANE, [after.dueAt, after.orderNo, lane, limit]);
  const { orders, dueAt, orderNo } = row;
  return { orders, last: dueAt === null || orderNo === null ? undefined : { dueAt, orderNo } };
}

/**
 * Bills a single order at a given time of the order's own clock, for time travel. Returns false if it was not due then.
 */
export async function billOrder(db: Queryable, orderNo: number, at: number): Promise<boolean> {
  return (await queryOne(db, BILL_ORDER, [orderNo, isoTime(at)]))?.orders === 1;
}

const FIND_FIRST_DUE_ORDER = statement({
  text: `select o.next_due_at::text as "dueAt", o.order_no as "orderNo" from orders o where ${DUE_IN_LANE} ${BY_DUE_TIME} limit 1`,
  parameters: ['timestamp with time zone', 'bigint', 'bigint'],
  columns: columns({ dueAt: 'text', orderNo: 'bigint' }),
});

export async function findFirstDueOrder(db: Queryable, lane: number, after: DueCursor): Promise<DueCursor | undefined> {
  return queryOne(db, FIND_FIRST_DUE_ORDER, [after.dueAt, after.orderNo, lane]);
}

/**
 * Locks a billing lane until the transaction ends. Returns false if another transaction has locked the lane. Limits
 * waits for row locks to 100 ms.
 */
export const lockLane = declareRequire({
  text: `select pg_try_advisory_xact_lock(${LANE_LOCK_CLASS}, $1) as taken, set_config('lock_timeout', '100ms', true) as patience`,
  parameters: ['integer'],
  columns: columns({ taken: 'boolean', patience: 'text' }),
  value: ({ taken }) => taken,
});
