import { BENEFIT_DAYS } from '../benefits/policy.js';
import type { Queryable } from '../db/database.js';
import { written } from '../db/time-sql.js';
import { completedPayloadSql, paymentPayloadSql } from '../events/payload-sql.js';
import { type Due, type DueCursor, dueOrders, dueParameters, momentOf, periods } from './due-sql.js';

export interface Billed {
  /** Orders that something was done about. */
  readonly orders: number;
  readonly last: DueCursor | undefined;
}

/**
 * Mode B, the next period of every due order at once: period, benefits, events, totals, next due time and completion, in
 * one statement and so in one commit. An order counts as billed only if its period was not there before, and everything
 * else follows from that row, so that no order is billed twice for a period whatever else goes wrong. An order whose last
 * period is there already (one of a single period) is completed.
 *
 * What is the same for all is made once, in `moment`. `= any(array[…])` can only be looked up order by order: a plan that
 * joins by hash reads the whole index of orders for each batch, and was chosen while there were few.
 */
const bill = (kind: Due['kind']) => ({
  name: `bill-${kind}`,
  text: `
with moment as materialized (
  select at, ${written('at')} as written, at + interval '${BENEFIT_DAYS} days' as expires_at
  from (select ${momentOf(kind)} as at) m
), due as materialized (
  select o.order_no, o.channel_id, o.created_at, o.next_due_at, o.amount_cent, o.period, o.total_cycles, o.cycle_no,
    o.paid_cycles, o.paid_amount_cent, o.refund_amount_cent, o.shared, o.period_type, o.product_code,
    o.external_order_no, o.channel_user_id, o.success_at, o.latest_payment_status
  from orders o where o.settlement_mode = 'CHANNEL_COLLECT' and ${dueOrders(kind)}
), billed as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
  select d.order_no, d.cycle_no + 1, d.channel_id, 'BILLED', d.created_at + ${periods('d.cycle_no', 'd')},
    (select at from moment), d.amount_cent
  from due d where d.cycle_no < d.total_cycles
  on conflict (order_no, cycle_no) do nothing
  returning order_no, cycle_no, expect_at
), done as materialized (
  select d.*, b.cycle_no as billed_no, b.expect_at, d.total_cycles = coalesce(b.cycle_no, d.cycle_no) as is_last,
    d.paid_cycles + case when b.cycle_no is null then 0 else 1 end as paid_cycles_now,
    d.paid_amount_cent + case when b.cycle_no is null then 0 else d.amount_cent end as paid_cent_now
  from due d left join billed b using (order_no)
  where b.cycle_no is not null or d.cycle_no = d.total_cycles
), moved as (
  update orders o set cycle_no = coalesce(d.billed_no, d.cycle_no), paid_cycles = d.paid_cycles_now,
    paid_amount_cent = d.paid_cent_now,
    latest_payment_status = case when d.billed_no is null then d.latest_payment_status else 'BILLED' end,
    status = case when d.is_last then 'COMPLETED' else 'ACTIVE' end,
    next_due_at = case when not d.is_last then d.created_at + ${periods('d.cycle_no + 1', 'd')} end
  from done d where o.order_no = any(array[d.order_no])
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select d.order_no, d.billed_no, b.position, d.channel_id, b.benefit_code, b.name, b.face_value_cent,
    (select at from moment), (select expires_at from moment)
  from done d join product_benefits b using (product_code) where d.billed_no is not null
), billed_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select d.channel_id, d.order_no, 'payment.status.changed', d.billed_no, (select at from moment),
    ${paymentPayloadSql({
      orderNo: 'd.order_no',
      externalOrderNo: 'd.external_order_no',
      channelUserId: 'd.channel_user_id',
      cycleNo: 'd.billed_no',
      expectAt: written('d.expect_at'),
      paidAt: '(select written from moment)',
      amountCent: 'd.amount_cent',
      status: `'BILLED'`,
      shared: 'd.shared',
    })}
  from done d where d.billed_no is not null
  returning order_no
), completed_events as (
  insert into events (channel_id, order_no, event_type, occurred_at, data)
  select d.channel_id, d.order_no, 'order.status.changed', (select at from moment),
    ${completedPayloadSql({
      orderNo: 'd.order_no',
      externalOrderNo: 'd.external_order_no',
      createdAt: 'd.created_at',
      successAt: 'd.success_at',
      periodType: 'd.period_type',
      period: 'd.period',
      totalCycles: 'd.total_cycles',
      paidAmountCent: 'd.paid_cent_now',
      paidCycles: 'd.paid_cycles_now',
      refundAmountCent: 'd.refund_amount_cent',
      latestPaymentStatus: `case when d.billed_no is null then d.latest_payment_status else 'BILLED' end`,
    })}
  -- After the period's own event, which has its number once it is there.
  from done d where d.is_last and (d.billed_no is null or d.order_no in (select e.order_no from billed_events e))
)
select (select count(*) from done)::integer as orders, l.due_at::text as "dueAt",
  (select max(d.order_no) from due d where d.next_due_at = l.due_at) as "orderNo"
from (select max(d.next_due_at) as due_at from due d) l`,
});

const STATEMENTS = { everything: bill('everything'), 'one-order': bill('one-order') };

export async function billDue(db: Queryable, due: Due, limit: number): Promise<Billed> {
  const [row] = await db.query<{ orders: number; dueAt: string | null; orderNo: number | null }>(
    STATEMENTS[due.kind],
    dueParameters(due, limit),
  );
  if (!row) throw new Error('a select of one row has one');
  const { orders, dueAt, orderNo } = row;
  return { orders, last: dueAt === null || orderNo === null ? undefined : { dueAt, orderNo } };
}
