import { shanghaiText } from '../../dist/platform/db/time-sql.js';
import { BENEFIT_DAYS } from '../../dist/subscriptions/domain/benefits/benefit-expiry.js';
import { paymentPayloadSql } from '../../dist/subscriptions/store/events/event-payload-sql.js';

/**
 * Bills one order of mode B with as little work as a job needs. Makes the same writes as the engine's statement for
 * many orders, without the parts that only many orders or an order's last period need. The update itself checks that
 * the order is still due.
 */
const BILL = {
  name: 'bill-one',
  text: `
with moved as (
  update orders set cycle_no = cycle_no + 1, paid_cycles = paid_cycles + 1, paid_amount_cent = paid_amount_cent + amount_cent,
    latest_payment_status = 'BILLED', next_due_at = created_at + make_interval(months => period * (cycle_no + 1))
  where order_no = $1 and next_due_at <= now() and cycle_no < total_cycles
  returning order_no, channel_id, cycle_no, amount_cent, product_code, external_order_no, channel_user_id, shared,
    created_at + make_interval(months => period * (cycle_no - 1)) as expect_at, date_trunc('second', now()) as at
), billed as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
  select order_no, cycle_no, channel_id, 'BILLED', expect_at, at, amount_cent from moved
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select m.order_no, m.cycle_no, b.position, m.channel_id, b.benefit_code, b.name, b.face_value_cent, m.at,
    m.at + interval '${BENEFIT_DAYS} days'
  from moved m join product_benefits b using (product_code)
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select m.channel_id, m.order_no, 'payment.status.changed', m.cycle_no, m.at,
    ${paymentPayloadSql({
      orderNo: 'm.order_no',
      externalOrderNo: 'm.external_order_no',
      channelUserId: 'm.channel_user_id',
      cycleNo: 'm.cycle_no',
      expectPayTime: shanghaiText('m.expect_at'),
      paidAt: shanghaiText('m.at'),
      amountCent: 'm.amount_cent',
      paymentStatus: `'BILLED'`,
      agreementShareFlag: 'm.shared',
    })}
  from moved m
)
select from moved`,
};

export async function billOne(database, orderNo) {
  const moved = await database.query(BILL, [orderNo]);
  if (moved.length !== 1) throw new Error(`order ${orderNo} was not billed`);
}
