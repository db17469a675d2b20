-- One order and its periods: the two reads that an answer of orders/query needs.
\set number random(:first, :last)
select order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status, period_type,
  period, total_cycles, amount_cent, created_at, success_at, unsubscribed_at, cycle_no, next_due_at, paid_cycles,
  paid_amount_cent, refund_amount_cent, latest_payment_status, agreement_id, shared
from orders where channel_id = :channel and order_no = :number;
select cycle_no, status, expect_at, paid_at, amount_cent, refund_amount_cent, refund_at
from payments where order_no = :number order by cycle_no;
