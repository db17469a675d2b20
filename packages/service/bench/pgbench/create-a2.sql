-- One order of mode A.2 as two transactions of one statement each, since the institution is called between them: what
-- is written down before the debit, and what its success changes. The rows are those of the service.
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
), new_agreement as (
  insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
    institution_no, card_hash, certificate_hash, card_tail, details)
  select n, :channel, 'pgbench-user-' || n, 'BENCHBANK', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'pgbench-' || n,
    :institution_no, sha256('card'), sha256('certificate'), '4567', :details from made
), new_order as (
  insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
    period_type, period, total_cycles, amount_cent, created_at, cycle_no, latest_payment_status, agreement_id,
    payment_channel_code, shared)
  select n, :channel, 'pgbench-order-' || n, 'pgbench-user-' || n, 'TEST_SPU_001', 'SVC_DEDUCT', 'INITIALIZING', 'MONTH',
    1, 12, 1990, at, 1, 'PROCESSING', n, 'BENCHBANK', true from made
), new_payment as (
  insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent, attempts)
  select n, 1, :channel, 'PROCESSING', at, 1990, 1 from made
), new_attempt as (
  insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
    started_at, ask_at)
  select n, 1, 1, :channel, n, 'BENCHBANK', 1990, at, now() + interval '1 day' from made
)
insert into idempotency (channel_id, key, path, body_sha256, meaning, state, owner, lease_until, subject)
select :channel, 'pgbench-' || n, '/openapi/v1/orders/create', sha256(int8send(n)), sha256(int8send(n)), 'RUNNING', gen_random_uuid(),
  now() + interval '30 s', n from made;

with attempt as (
  update debit_attempts set status = 'SUCCESS', institution_ref = 'pgbench', settled_at = now(), ask_at = null
  where order_no = :n and cycle_no = 1 and try_no = 1
), payment as (
  update payments set status = 'SUCCESS', paid_at = now() where order_no = :n and cycle_no = 1
), the_order as (
  update orders set status = 'ACTIVE', success_at = now(), next_due_at = now() + interval '1 month', paid_cycles = 1,
    paid_amount_cent = 1990, latest_payment_status = 'SUCCESS' where order_no = :n
), new_benefits as (
  insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
    expires_at)
  select :n, 1, position, :channel, code, name, cent, now(), now() + interval '90 days'
  from (values (1, 'VIP_PASS', 'VIP pass', 1500), (2, 'COUPON', 'Coupon', 490)) as b(position, code, name, cent)
), new_events as (
  insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
  select :channel, :n, type, cycle, now(), data
  from (values ('payment.status.changed', 1, :payment_event), ('order.status.changed', null, :order_event))
    as e(type, cycle, data)
)
update idempotency set state = 'DESCRIBED', lease_until = 'infinity', code = '0', message = 'success', data = :answer
where channel_id = :channel and key = 'pgbench-' || :n;
