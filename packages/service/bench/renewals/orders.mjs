import { sealInstitutionNo } from '../../dist/subscriptions/store/agreements/card.js';

/**
 * Creates orders as they would be after a year of business: created over the last twelve months, with ascending numbers
 * and monthly periods. Orders that are due now were created on this day of an earlier month. Each of the twelve months
 * has a group of them, among orders that are not due. The due times of the due orders are spread over the last day. Of
 * each order only the last period has rows, and it has no events.
 */
const MONTHS = 12;
const FIRST = 300_000_000_001;
/** The number of orders per statement. Each statement is a transaction of some seconds. */
const AT_A_TIME = 200_000;

/** Mode B: creates `due` orders to be billed now, spread among `idle` orders that are not due. */
export async function makeCollected(maker, { channelId, productCode, due, idle = 0 }) {
  const next = counter();
  for (let month = MONTHS; month >= 1; month -= 1) {
    const share = (all) => Math.floor((all * month) / MONTHS) - Math.floor((all * (month - 1)) / MONTHS);
    const before = Math.floor(share(idle) / 2);
    const parts = [
      { count: before, from: '-15 days', to: '-2 days', past: month + 1 },
      { count: share(due), from: '-1 day', to: '0 days', past: month },
      { count: share(idle) - before, from: '1 day', to: '14 days', past: month },
    ];
    for (const part of parts) await insertOrders(maker, { ...part, month, channelId, productCode, next });
  }
  await settled(maker);
}

async function insertOrders(maker, { count, from, to, past, month, channelId, productCode, next }) {
  for (let done = 0; done < count; done += AT_A_TIME) {
    const some = Math.min(AT_A_TIME, count - done);
    const range = [next(some), some, channelId, productCode];
    await maker.query(
      `with made as materialized (
         select $1::bigint + n as order_no, p.product_code, p.period_type, p.period, p.total_cycles, p.amount_cent,
           date_trunc('second', now() - $5::integer * interval '1 month' + $6::interval
             + ($7::interval - $6::interval) * (($8::integer + n)::double precision / $9::integer)) as created_at
         from generate_series(0, $2::integer - 1) n, products p where p.product_code = $4
       ), new_orders as (
         insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
           period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
           paid_amount_cent, latest_payment_status)
         select order_no, $3::bigint, 'bench-order-' || order_no, 'bench-user-' || order_no, product_code, 'CHANNEL_COLLECT',
           'ACTIVE', period_type, period, total_cycles, amount_cent, created_at, created_at, $10::integer,
           created_at + $10 * interval '1 month', $10, $10 * amount_cent, 'BILLED'
         from made
       ), new_payments as (
         insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
         select order_no, $10, $3, 'BILLED', at, at, amount_cent
         from made, lateral (select created_at + ($10 - 1) * interval '1 month' as at) t
       )
       insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
         expires_at)
       select order_no, $10, position, $3, benefit_code, name, face_value_cent, at, at + interval '90 days'
       from made join product_benefits using (product_code),
         lateral (select created_at + ($10 - 1) * interval '1 month' as at) t`,
      [...range, month, from, to, done, count, past],
    );
  }
}

/** Mode A: creates orders with one agreement each, all due now, a month after their creation. */
export async function makeDeducted(maker, { channel, productCode, due, paymentChannelCode }) {
  const { channelId } = channel;
  await insertOrders(maker, {
    count: due,
    from: '-1 day',
    to: '0 days',
    past: 1,
    month: 1,
    channelId,
    productCode,
    next: counter(),
  });
  await maker.query(
    `update orders set settlement_mode = 'SVC_DEDUCT', latest_payment_status = 'SUCCESS', agreement_id = order_no,
       payment_channel_code = $1`,
    [paymentChannelCode],
  );
  await maker.query(`update payments set status = 'SUCCESS', attempts = 1`);
  for (let done = 0; done < due; done += 1000) {
    const numbers = Array.from({ length: Math.min(1000, due - done) }, (_, n) => FIRST + done + n);
    await maker.query(
      `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
         agreement_no, institution_no, card_hash, certificate_hash, card_tail, details)
       select n, $1, 'bench-user-' || n, $2, 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'AG' || n, institution_no,
         sha256(int8send(n)), sha256(int8send(n)), '4567', ''
       from unnest($3::bigint[], $4::text[]) as a(n, institution_no)`,
      [channelId, paymentChannelCode, numbers, numbers.map((n) => sealInstitutionNo(channel, n, `bench-${n}-good`))],
    );
  }
  await maker.query('vacuum full orders, payments');
  await settled(maker);
}

function counter() {
  let next = FIRST;
  return (count) => {
    const first = next;
    next += count;
    return first;
  };
}

/** Vacuums and analyzes the tables, so that they are in the state of an established database. */
async function settled(maker) {
  await maker.query('vacuum analyze orders, payments, benefits, agreements');
  await maker.query('checkpoint');
}
