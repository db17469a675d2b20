// Creates orders as they would be after years of business, with few large statements, for the growth bench and for the
// test of query plans. This file imports nothing, so that both can use it.

/** The first order number. Within one load, an order created later has a higher number. */
export const FIRST_ORDER = 300_000_000_000;
const AT_A_TIME = 100_000;
/**
 * If at least this number of orders is added, the indexes are created after the rows, because sorting all rows at the
 * end is faster than one look-up per row.
 */
const MANY = 200_000;

/** Returns the user of the order at a position. Each user has two orders, both of the same channel. */
export const userOf = (place) => `growth-user-${Math.floor(place / 2)}`;
/** Returns the nth of the positions that always belong to the first channel, which are a third of all positions. */
export const placeAtFirstChannel = (n) => Math.floor(n / 2) * 6 + (n % 2);

const TABLES = [
  'channel_users',
  'external_orders',
  'agreements',
  'orders',
  'payments',
  'debit_attempts',
  'benefits',
  'claims',
  'failed_payments',
  'idempotency',
  'events',
  'delivery_attempts',
];

/**
 * Of 20 orders, 10 are debited by the payment channel; 12 are active, and 8 have ended in various ways. A few active
 * orders have a failed debit. The orders were created evenly over a year. Of an order's periods the first and the
 * latest are stored, with their debits and benefits; a fifth of the benefits is claimed. Periods of the last month have
 * accepted events. Creations of the last day have stored answers. No order falls due in the next two days. Encrypted
 * values cannot be decrypted.
 */
const INSERT = `
with made as materialized (
  select n, ${FIRST_ORDER} + n as order_no, 'growth-order-' || n as external_order_no, 'growth-user-' || n / 2 as channel_user_id,
    ($4::bigint[])[case when n / 2 % 3 = 0 then 1 else 1 + n / 2 % cardinality($4::bigint[]) end] as channel_id,
    p.product_code, p.period_type, p.period, p.total_cycles, p.amount_cent,
    n % 20 < 10 as debited,
    case when n % 20 in (0, 10) then 'COMPLETED' when n % 20 in (1, 2, 11, 12, 13) then 'UNSUBSCRIBED'
      when n % 20 = 3 then 'TERMINATED' else 'ACTIVE' end as status,
    date_trunc('second', now() - interval '365 days' * (1 - (n - $3::bigint)::double precision / $7::integer)) as created_at
  from generate_series($1::bigint, $1 + $2::integer - 1) n, products p where p.product_code = $6
), lived as materialized (
  select *, case when debited then 'SVC_DEDUCT' else 'CHANNEL_COLLECT' end as settlement_mode,
    case when status = 'TERMINATED' then 1
      else 1 + least(floor(extract(epoch from now() - created_at) / 2678400), total_cycles - 1)::integer end as cycle_no,
    case when status = 'TERMINATED' then 'FAIL' when not debited then 'BILLED'
      when status = 'ACTIVE' and n % 200 = 4 then 'FAIL_RETRY' else 'SUCCESS' end as latest
  from made
), new_users as (
  insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile, bound_at)
  select channel_id, channel_user_id, key_of(channel_user_id), repeat('m', 60), created_at from lived where n % 2 = 0
), new_external as (
  insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
  select external_order_no, channel_id, order_no, key_of(channel_user_id), created_at, false, product_code from lived
), new_agreements as (
  insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
    institution_no, institution_hash, card_hash, certificate_hash, card_tail, details, created_at, changed_at)
  select order_no, channel_id, channel_user_id, $5, 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'AG' || order_no,
    repeat('i', 60), key_of('i' || order_no), key_of('c' || channel_user_id), key_of('p' || channel_user_id),
    lpad((n / 2 % 10000)::text, 4, '0'), repeat('d', 240), created_at, created_at
  from lived where debited
), new_orders as (
  insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status, period_type,
    period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles, paid_amount_cent,
    latest_payment_status, agreement_id, payment_channel_code, shared)
  select order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status, period_type, period,
    total_cycles, amount_cent, created_at, created_at, cycle_no,
    case when status = 'ACTIVE' then greatest(created_at + cycle_no * interval '1 month',
      now() + interval '2 days' + n % 86400 * interval '1 s') end,
    cycle_no, cycle_no * amount_cent, latest, case when debited then order_no end, case when debited then $5 end, debited
  from lived
), periods as materialized (
  select l.*, 1 as no, created_at as at, case when cycle_no = 1 then latest when debited then 'SUCCESS' else 'BILLED' end as outcome
  from lived l
  union all
  select l.*, cycle_no, created_at + (cycle_no - 1) * interval '1 month', latest from lived l where cycle_no > 1
), new_payments as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, attempts)
  select order_no, no, channel_id, outcome, at, case when outcome not in ('FAIL', 'FAIL_RETRY') then at end, amount_cent,
    debited::integer
  from periods
), new_attempts as (
  insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
    reason, institution_ref, started_at, settled_at, paid_at)
  select order_no, no, 1, channel_id, order_no, $5, amount_cent, case when failed then 'FAIL' else 'SUCCESS' end,
    case when failed then 'insufficient funds' end, case when not failed then 'ref-' || order_no end, at, at + interval '1 s',
    case when not failed then at end
  from periods, lateral (select outcome in ('FAIL', 'FAIL_RETRY') as failed) f where debited
), new_failures as (
  insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent, tries,
    reason, failed_at)
  select order_no, no, channel_id, product_code, $5, outcome, amount_cent, 1, 'insufficient funds', at
  from periods where outcome in ('FAIL', 'FAIL_RETRY')
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status, issued_at,
    expires_at, claim_no, claimed_at)
  select order_no, no, position, channel_id, benefit_code, name, face_value_cent,
    case when claimed then 'CLAIMED' when at < now() - interval '90 days' then 'EXPIRED' else 'ISSUED' end, at,
    at + interval '90 days', case when claimed then 'C' || order_no || lpad(no::text, 4, '0') || '01' end,
    case when claimed then at + interval '1 hour' end
  from periods join product_benefits using (product_code), lateral (select n % 5 = 0 and position = 1 as claimed) c
  where outcome not in ('FAIL', 'FAIL_RETRY')
), new_claims as (
  insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, claimed_at, fulfilled_at)
  select order_no, no, 1, channel_id, 'VIP_PASS', 'GENERATED', 'FULFILLED', 'sealed', at + interval '1 hour', at + interval '1 hour'
  from periods where n % 5 = 0 and outcome not in ('FAIL', 'FAIL_RETRY')
), new_answers as (
  insert into idempotency (channel_id, key, path, body_sha256, state, owner, lease_until, code, message, data, created_at)
  select channel_id, 'growth-' || n, '/openapi/v1/orders/create', key_of(external_order_no), 'DESCRIBED', gen_random_uuid(),
    'infinity', '0', 'success', repeat('a', 500), created_at
  from lived where created_at > now() - interval '1 day'
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, recorded_at, data)
  select channel_id, order_no, 'payment.status.changed', no, at, at + interval '1 s',
    json_build_object('orderNo', order_no, 'externalOrderNo', external_order_no, 'channelUserId', channel_user_id, 'cycleNo', no,
      'expectPayTime', at, 'amountCent', amount_cent, 'paymentStatus', outcome)
  from periods where at > now() - interval '30 days'
  returning event_no, channel_id, recorded_at
)
insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, recorded_at,
  is_payment)
select channel_id, event_no, recorded_at + interval '1 s', 0, 'ACCEPTED', 0, 200, 12, recorded_at, true from new_events`;

/**
 * Adds the orders at the positions from `from` up to but not including `to`. Both must be even. A third of
 * the orders belongs to the first channel. The rest is divided among all channels. `run` executes a statement without a timeout.
 */
export async function loadOrders(
  run,
  { from, to, channelIds, paymentChannelCode, productCode, say = () => undefined },
) {
  const makeIndexes = to - from >= MANY ? await dropIndexes(run, TABLES) : async () => undefined;
  // Does not queue the events, because they are old and must not be delivered.
  await run('alter table events disable trigger queue_events');
  for (let place = from; place < to; place += AT_A_TIME) {
    const some = Math.min(AT_A_TIME, to - place);
    await run(INSERT, [place, some, from, channelIds, paymentChannelCode, productCode, to - from]);
    if ((place - from) % (10 * AT_A_TIME) === 9 * AT_A_TIME) say(`    ${place + some} orders\n`);
  }
  await run('alter table events enable trigger queue_events');
  await makeIndexes(say);
  for (const table of TABLES) await run(`vacuum (analyze) ${table}`);
}

/** Drops the indexes and constraints of the tables. Returns a function that creates them again. */
export async function dropIndexes(run, tables) {
  const found = await run(
    `select t.relname as table, i.relname as name, c.conname as constraint, pg_get_constraintdef(c.oid) as rule,
       replace(pg_get_indexdef(i.oid), ' ON ONLY ', ' ON ') as text
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
       left join pg_constraint c on c.conindid = i.oid
     where t.relname = any($1) and t.relnamespace = 'public'::regnamespace order by 1, 2`,
    [tables],
  );
  for (const { table, name, constraint } of found) {
    await run(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${constraint}`);
  }
  return async (say) => {
    await run(`set maintenance_work_mem = '1GB'`);
    for (const { table, name, constraint, rule, text } of found) {
      say(`    index ${name}\n`);
      await run(constraint === null ? text : `alter table ${table} add constraint ${constraint} ${rule}`);
    }
  };
}
