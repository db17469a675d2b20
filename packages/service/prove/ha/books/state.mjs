/** Returns an SQL expression for a time column as Unix milliseconds. */
const ms = (column) => `floor(extract(epoch from ${column}) * 1000)::bigint`;

const ORDERS = `select order_no::text as "orderNo", external_order_no as "externalOrderNo", channel_user_id as "channelUserId",
    settlement_mode as "settlementMode", status, period_type as "periodType", period, total_cycles as "totalCycles",
    amount_cent as "amountCent", ${ms('created_at')} as "createdAt", ${ms('success_at')} as "successAt",
    ${ms('unsubscribed_at')} as "unsubscribedAt", unsubscribe_source as "unsubscribeSource", cycle_no as "cycleNo",
    paid_cycles as "paidCycles", paid_amount_cent as "paidAmountCent", refund_amount_cent as "refundAmountCent",
    latest_payment_status as "latestPaymentStatus", shared,
    (select a.status from agreements a where a.agreement_id = o.agreement_id) as "agreementStatus",
    (select a.cancel_at is not null from agreements a where a.agreement_id = o.agreement_id) as "isCancelling"
  from orders o`;

const PAYMENTS = `select order_no::text as "orderNo", cycle_no as "cycleNo", status, ${ms('expect_at')} as "expectAt",
    ${ms('paid_at')} as "paidAt", amount_cent as "amountCent", refund_amount_cent as "refundAmountCent",
    ${ms('refund_at')} as "refundAt"
  from payments order by cycle_no`;

const ATTEMPTS = `select order_no::text as "orderNo", cycle_no as "cycleNo", try_no as "tryNo", amount_cent as "amountCent", status,
    institution_ref as "institutionRef", order_no::text || lpad(cycle_no::text, 4, '0') || lpad(try_no::text, 2, '0') as "attemptNo"
  from debit_attempts`;

const REFUNDS = `select order_no::text as "orderNo", cycle_no as "cycleNo", refund_seq as "refundSeq", try_no as "tryNo",
    amount_cent as "amountCent", status, note, ${ms('refunded_at')} as "refundedAt",
    'R' || order_no::text || lpad(cycle_no::text, 4, '0') || lpad(refund_seq::text, 2, '0') as "refundNo"
  from refunds`;

const BENEFITS = `select b.order_no::text as "orderNo", b.cycle_no as "cycleNo", b.position, b.status,
    b.claim_no as "claimNo", c.status as "claimStatus"
  from benefits b left join claims c using (order_no, cycle_no, position)`;

/**
 * Periods that were voided together are one row, with the first period's data. The service sends one event per period.
 */
const EVENTS = `select event_no || coalesce('-' || cycle, '') as "eventId", order_no::text as "orderNo", event_type as "eventType",
    coalesce(cycle, cycle_no) as "cycleNo", coalesce(cycle > cycle_no, false) as "isVoided", ${ms('occurred_at')} as "occurredAt", data
  from events left join lateral generate_series(cycle_no, cycle_to) as cycle on cycle_to is not null
  order by event_no, cycle`;

/** Reads the service's stored state: each order with all its rows. */
export async function readState(database) {
  const orders = new Map();
  const lists = { payments: PAYMENTS, attempts: ATTEMPTS, refunds: REFUNDS, benefits: BENEFITS, events: EVENTS };
  const empty = () => Object.fromEntries(Object.keys(lists).map((name) => [name, []]));
  for (const order of await database.query(ORDERS)) orders.set(order.orderNo, { ...order, ...empty() });
  const orphans = [];
  for (const [name, text] of Object.entries(lists)) {
    for (const row of await database.query(text)) {
      const order = orders.get(row.orderNo);
      if (order) order[name].push(name === 'events' ? { ...row, data: JSON.parse(row.data) } : row);
      else orphans.push(`${name} of order ${row.orderNo}`);
    }
  }
  return { orders, orphans: [...new Set(orphans)] };
}

export const PAID = new Set(['SUCCESS', 'BILLED', 'REFUND_PART', 'REFUND_FULL']);

export const sum = (rows, of) => rows.reduce((total, row) => total + of(row), 0);
