import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { shanghaiText } from '../../dist/platform/db/time-sql.js';
import { paymentPayloadSql } from '../../dist/subscriptions/store/events/event-payload-sql.js';

/** The first order number. An order created later has a higher number. */
export const FIRST = 300_000_000_001;
const AT_A_TIME = 100_000;
const MONTHS = 13;

export const PRODUCTS = ['MONTHLY', 'MONTHLY_2'];

/**
 * Creates orders as they would be after a year of business, spread evenly over thirteen months. The first channel has a
 * third of them; all channels share the rest. In 100 orders, 55 are debited, 70 are active, and 30 have ended in
 * various ways. A few active orders have a failed period. An order has one period per 31 days. Only its first and last
 * period are stored, with their attempts and events, because this bench reads no other periods. Mobiles cannot be
 * decrypted; users of the first channel have none.
 */
export async function makeOrders({ operator, maker }, { orders, channels, say }) {
  const channelIds = [];
  for (let n = 0; n < channels; n += 1) {
    const { appId } = await createChannel(operator, { name: `Bench channel ${n}` });
    const [{ channelId }] = await maker.query(
      'select channel_id::integer as "channelId" from channels where app_id = $1',
      [appId],
    );
    channelIds.push(channelId);
  }
  await maker.query(`update channels set created_at = now() - interval '400 days'`);
  await maker.query(`select make_weeks('events', 1)`);
  await maker.query(
    `insert into payment_channels (code, display_name, gateway, supported_banks) values ('MOCKPAY', 'Bench', 'sandbox', '{ICBC}')
     on conflict do nothing`,
  );
  for (let done = 0; done < orders; done += AT_A_TIME) {
    const some = Math.min(AT_A_TIME, orders - done);
    await insertSome(maker, { first: done, some, orders, channelIds });
    if ((done / AT_A_TIME) % 10 === 9) say(`    ${done + some} orders\n`);
  }
  await maker.query('analyze orders');
  await insertLatestPeriods(maker);
  for (const table of [
    'orders',
    'external_orders',
    'payments',
    'debit_attempts',
    'events',
    'delivery_attempts',
    'agreements',
    'channel_users',
    'refunds',
    'claims',
  ]) {
    await maker.query(`vacuum analyze ${table}`);
  }
  return channelIds;
}

/**
 * The end of an insert statement: for each period that the statement's `periods` query returns, inserts the period's
 * rows.
 */
const PERIOD_ROWS = `), new_payments as (
       insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, attempts)
       select order_no, no, channel_id, case when no = cycle_no then latest when settlement_mode = 'SVC_DEDUCT' then 'SUCCESS' else 'BILLED' end,
         at, case when no < cycle_no or latest not in ('FAIL', 'FAIL_RETRY') then at end, amount_cent, 1
       from periods
     ), new_attempts as (
       insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         started_at, settled_at, paid_at)
       select order_no, no, 1, channel_id, order_no, 'MOCKPAY', amount_cent,
         case when no = cycle_no and latest in ('FAIL', 'FAIL_RETRY') then 'FAIL' else 'SUCCESS' end, at, at + interval '1 s',
         case when no < cycle_no or latest = 'SUCCESS' then at end
       from periods where settlement_mode = 'SVC_DEDUCT'
     ), new_events as (
       insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, recorded_at, data)
       select channel_id, order_no, 'payment.status.changed', no, at, at + interval '1 s',
         ${paymentPayloadSql({
           orderNo: 'order_no',
           externalOrderNo: 'external_order_no',
           channelUserId: 'channel_user_id',
           cycleNo: 'no',
           expectPayTime: shanghaiText('at'),
           paidAt: shanghaiText('at'),
           amountCent: 'amount_cent',
           paymentStatus: 'latest',
           agreementShareFlag: 'true',
         })}
       from periods where at > now() - interval '180 days'
       returning event_no, channel_id, recorded_at
     )
     insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, recorded_at, is_payment)
     select channel_id, event_no, recorded_at + interval '1 s', 0, 'ACCEPTED', 0, 200, 12, recorded_at, true from new_events`;

async function insertSome(maker, { first, some, orders, channelIds }) {
  await maker.query(
    `with made as materialized (
       select ${FIRST} + n as order_no, 'bench-order-' || (${FIRST} + n) as external_order_no,
         'bench-user-' || n / 3 as channel_user_id, n,
         ($4::bigint[])[case when n % 3 = 0 then 1 else 1 + n % cardinality($4::bigint[]) end] as channel_id,
         case when n % 50 = 7 then 'MONTHLY_2' else 'MONTHLY' end as product_code,
         case when n % 100 < 55 then 'SVC_DEDUCT' else 'CHANNEL_COLLECT' end as settlement_mode,
         case when n % 100 in (3, 57) then 'COMPLETED' when n % 100 between 70 and 95 then 'UNSUBSCRIBED'
           when n % 100 in (10, 11) then 'TERMINATED' else 'ACTIVE' end as status,
         date_trunc('second', now() - interval '${MONTHS} months' * (1 - n::double precision / $3::integer)) as created_at
       from generate_series($1::integer, $1::integer + $2::integer - 1) n
     ), lived as materialized (
       select m.*, p.period_type, p.period, p.total_cycles, p.amount_cent,
         case when status = 'TERMINATED' then 1
           else 1 + least(floor(extract(epoch from now() - m.created_at) / 2678400), p.total_cycles - 1)::integer end as cycle_no,
         case when status = 'TERMINATED' then 'FAIL' when settlement_mode = 'CHANNEL_COLLECT' then 'BILLED'
           when status = 'ACTIVE' and n % 200 = 21 then 'FAIL_RETRY' else 'SUCCESS' end as latest
       from made m join products p using (product_code)
     ), new_orders as (
       insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
         period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
         paid_amount_cent, latest_payment_status, agreement_id, payment_channel_code)
       select order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status, period_type, period,
         total_cycles, amount_cent, created_at, created_at, cycle_no,
         case when status = 'ACTIVE' then created_at + cycle_no * interval '1 month' end, cycle_no, cycle_no * amount_cent, latest,
         case when settlement_mode = 'SVC_DEDUCT' then order_no end, case when settlement_mode = 'SVC_DEDUCT' then 'MOCKPAY' end
       from lived
     ), new_external as (
       insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
       select external_order_no, channel_id, order_no, key_of(channel_user_id), created_at, false, product_code from lived
     ), new_users as (
       insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile)
       select channel_id, channel_user_id, key_of(channel_user_id || channel_id), 'sealed' from lived where channel_id <> ($4::bigint[])[1] on conflict do nothing
     ), new_agreements as (
       insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
         institution_hash, card_hash, certificate_hash, card_tail, details, created_at)
       select order_no, channel_id, channel_user_id, 'MOCKPAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'AG' || order_no,
         key_of(order_no::text), key_of(channel_user_id), key_of(channel_user_id), lpad((n / 3 % 10000)::text, 4, '0'), 'sealed',
         created_at
       from lived where settlement_mode = 'SVC_DEDUCT'
     ), periods as materialized (
       select l.*, 1 as no, created_at as at from lived l
     ), new_refunds as (
       insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status,
         requested_by, started_at, refunded_at, settled_at)
       select order_no, no, 1, 1, channel_id, 'MOCKPAY', 100, 'SUCCESS', 'bench', at, at, at + interval '1 s'
       from periods where no = 1 and n % 500 = 1
     ), new_claims as (
       insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, claimed_at, fulfilled_at)
       select order_no, no, 1, channel_id, 'VIP_PASS', 'GENERATED', 'FULFILLED', 'sealed', at + interval '1 hour', at + interval '1 hour'
       from periods where no = 1 and n % 5 = 0
     ${PERIOD_ROWS}`,
    [first, some, orders, channelIds],
  );
  await maker.query('truncate due_events');
}

/**
 * Inserts, day by day, the latest period of each order that has more than one period. Goes back 40 days: an order has
 * one period per 31 days, so its latest period is rarely older.
 */
async function insertLatestPeriods(maker) {
  for (let daysAgo = 40; daysAgo >= 0; daysAgo -= 1) {
    await maker.query(
      `with periods as materialized (
         select o.order_no, o.channel_id, o.external_order_no, o.channel_user_id, o.settlement_mode, o.cycle_no, o.amount_cent,
           o.latest_payment_status as latest, o.cycle_no as no, t.at
         from orders o, lateral (select o.created_at + (o.cycle_no - 1) * interval '1 month' as at) t
         where o.cycle_no > 1 and t.at >= now() - $1::integer * interval '1 day' and t.at < now() - ($1 - 1) * interval '1 day'
         order by t.at
       ${PERIOD_ROWS}`,
      [daysAgo],
    );
  }
  await maker.query('truncate due_events');
}
