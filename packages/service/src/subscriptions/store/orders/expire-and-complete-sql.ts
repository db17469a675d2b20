import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { shanghaiText } from '../../../platform/db/time-sql.js';
import { afterPeriodsSql } from '../../domain/orders/calendar.js';
import { requireOrderTransition } from '../../domain/orders/order-states.js';
import { requirePaymentTransition, WAITING_FOR_RETRY_STATUSES } from '../../domain/payments/payment-states.js';
import { completedOrderPayloadSql, paymentPayloadSql } from '../events/event-payload-sql.js';
import { orderStatusIs, paymentStatusIs, statusLiteral } from '../statuses-sql.js';
import { DUE_PARAMETERS, type DueOrders, dueOrdersSql, dueParameters, momentSql } from './due-orders-sql.js';

const FAILED = requirePaymentTransition('FAIL_RETRY', 'retry-too-late').to;
const COMPLETED = requireOrderTransition('ACTIVE', 'last-period-settled').to;

/** SQL: true if the order named `o` waits for a retry of a period that is over. The period is then not retried. */
export const retryIsTooLateSql = (o: string, at: string) =>
  `${paymentStatusIs(`${o}.latest_payment_status`, ...WAITING_FOR_RETRY_STATUSES)} and ${at} >= ${afterPeriodsSql(`${o}.cycle_no`, o)}`;

/**
 * Mode A: processes due orders that need no debit, in one statement and commit. Completes orders with a single period.
 * Sets a period to FAIL if it is over and still waits for its retry; if it is the last period, also completes the
 * order. The first two conditions are those of the index `orders_to_move_without_debit`.
 */
const expireAndCompleteStatement = (kind: DueOrders['kind']) =>
  statement({
    name: `end-without-debit-${kind}`,
    text: `
with due as materialized (
  select o.order_no, o.next_due_at, o.total_cycles > 1 as failed, ${momentSql(kind)} as at
  from orders o where o.settlement_mode = 'SVC_DEDUCT' and (o.total_cycles = 1 or ${paymentStatusIs('o.latest_payment_status', ...WAITING_FOR_RETRY_STATUSES)})
    and (o.total_cycles = 1 or ${retryIsTooLateSql('o', momentSql(kind))}) and ${dueOrdersSql(kind)}
), moved as (
  update orders o set latest_payment_status = case when d.failed then ${statusLiteral(FAILED)} else o.latest_payment_status end,
    status = case when o.cycle_no < o.total_cycles then o.status else ${statusLiteral(COMPLETED)} end,
    next_due_at = case when o.cycle_no < o.total_cycles then ${afterPeriodsSql('o.cycle_no', 'o')} end
  from due d where o.order_no = any(array[d.order_no])
  returning o.order_no, o.channel_id, o.status, o.external_order_no, o.channel_user_id, o.created_at, o.success_at, o.period_type,
    o.period, o.total_cycles, o.cycle_no, o.paid_cycles, o.paid_amount_cent, o.refund_amount_cent,
    o.latest_payment_status, o.shared, ${orderStatusIs('o.status', COMPLETED)} as completed, d.failed, d.at, d.next_due_at
), failed as (
  update payments p set status = ${statusLiteral(FAILED)} from moved m
  where m.failed and p.order_no = any(array[m.order_no]) and p.cycle_no = any(array[m.cycle_no])
  returning p.order_no, p.expect_at, p.amount_cent
), failed_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select m.channel_id, m.order_no, 'payment.status.changed', m.cycle_no, m.at,
    ${paymentPayloadSql({
      orderNo: 'm.order_no',
      externalOrderNo: 'm.external_order_no',
      channelUserId: 'm.channel_user_id',
      cycleNo: 'm.cycle_no',
      expectPayTime: shanghaiText('f.expect_at'),
      paidAt: 'null',
      amountCent: 'f.amount_cent',
      paymentStatus: statusLiteral(FAILED),
      agreementShareFlag: 'm.shared',
    })}
  from moved m join failed f using (order_no)
  returning order_no
), completed_events as (
  insert into events (channel_id, order_no, event_type, occurred_at, data)
  select m.channel_id, m.order_no, 'order.status.changed', m.at,
    ${completedOrderPayloadSql('m')}
  -- After the event of the period: reading that event makes PostgreSQL number it first.
  from moved m where m.completed and (not m.failed or m.order_no in (select e.order_no from failed_events e))
)
select m.order_no as "orderNo", m.cycle_no as "cycleNo", m.failed, m.completed, m.next_due_at::text as "dueAt"
from moved m order by m.next_due_at, m.order_no`,
    parameters: DUE_PARAMETERS,
    columns: columns({
      orderNo: 'bigint',
      cycleNo: 'integer',
      /** True if the order's period became FAIL, false if the order was only completed. */
      failed: 'boolean',
      completed: 'boolean',
      dueAt: 'text',
    }),
  });

const EXPIRE_AND_COMPLETE = {
  everything: expireAndCompleteStatement('everything'),
  'one-order': expireAndCompleteStatement('one-order'),
};

export async function expireAndComplete(db: Queryable, due: DueOrders, limit: number) {
  return db.query(EXPIRE_AND_COMPLETE[due.kind], dueParameters(due, limit));
}
