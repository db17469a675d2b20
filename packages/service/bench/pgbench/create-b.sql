-- One order of mode B as one transaction of one statement: the rows that the service writes for it, and nothing that
-- the service asks before. Texts that are sealed or serialised come as variables, of the size that the service made.
\set i :i + 1
\set n :base + 1000000 * :client_id + :i
with made as (
  select :n::bigint as n, date_trunc('second', now()) as at
), new_user as (
  insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile)
  select :channel, 'pgbench-user-' || n, sha256(int8send(n)), :mobile from made
), new_external as (
  insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
  select 'pgbench-order-' || n, :channel, n, key_of('pgbench-user-' || n), at, false, 'TEST_SPU_001' from made
), new_order as (
  insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
    period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
    paid_amount_cent, latest_payment_status)
  select n, :channel, 'pgbench-order-' || n, 'pgbench-user-' || n, 'TEST_SPU_001', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH',
    1, 12, 1990, at, at, 1, at + interval '1 month', 1, 1990, 'BILLED' from made
), new_payment as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
  select n, 1, :channel, 'BILLED', at, at, 1990 from made
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select n, 1, position, :channel, code, name, cent, at, at + interval '90 days'
  from made, (values (1, 'VIP_PASS', 'VIP pass', 1500), (2, 'COUPON', 'Coupon', 490)) as b(position, code, name, cent)
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select :channel, n, type, cycle, at, data
  from made, (values ('payment.status.changed', 1, :payment_event), ('order.status.changed', null, :order_event))
    as e(type, cycle, data)
)
insert into idempotency (channel_id, key, path, body_sha256, meaning, state, owner, lease_until, code, message, data)
select :channel, gen_random_uuid(), '/openapi/v1/orders/create', sha256(int8send(n)), sha256(int8send(n)), 'DESCRIBED', gen_random_uuid(),
  'infinity', '0', 'success', :answer from made;
