-- Grants the rights of two database roles besides the owner of the tables. The role of the nodes and commands changes rows but not the schema.
-- The role of reports reads figures, but no secrets and no data of users or operators. docs/setup.md#database-roles has the steps.
-- The owner runs this file after the first `perennial migrate`, and again after each upgrade. It can be repeated at any time:
--   psql "$OWNER_URL" -v ON_ERROR_STOP=1 -v schema=public -v service=perennial_service -v reports=perennial_reports -f deploy/roles.sql

begin;

revoke create on schema :"schema" from public;
grant usage on schema :"schema" to :"service", :"reports";

-- The service: the rows of every table, also of tables, sequences and functions that the owner creates later.
grant select, insert, update, delete on all tables in schema :"schema" to :"service";
grant usage, select, update on all sequences in schema :"schema" to :"service";
grant execute on all functions in schema :"schema" to :"service";
alter default privileges in schema :"schema" grant select, insert, update, delete on tables to :"service";
alter default privileges in schema :"schema" grant usage, select, update on sequences to :"service";
alter default privileges in schema :"schema" grant execute on functions to :"service";
grant truncate on nonces_0, nonces_1, nonces_2, nonces_3 to :"service";
-- The log of migrations belongs to the owner, and entries of the audit log are only added.
revoke insert, update, delete on schema_migrations from :"service";
revoke update, delete on audit_log from :"service";

-- Reports: these columns and no others. A column that a migration adds stays hidden until it is listed here.
revoke all on all tables in schema :"schema" from :"reports";
grant select (channel_id, app_id, name, status, rate_per_second, upcoming_notice_days, created_at) on channels to :"reports";
grant select (channel_id, product_code, authorized_at) on channel_products to :"reports";
grant select (channel_id, code, is_default, share_enabled, authorized_at) on channel_payment_channels to :"reports";
grant select (product_code, product_name, settlement_modes, period_type, period, total_cycles, amount_cent, created_at, version,
  version_of, name_zh, name_en) on products to :"reports";
grant select (product_code, benefit_code, position, name, face_value_cent) on product_benefits to :"reports";
grant select (code, display_name, gateway, debits_per_second, debit_hour_from, debit_hour_to, created_at,
  debits_paused_at) on payment_channels to :"reports";
grant select (agreement_id, channel_id, payment_channel_code, source, status, bank_code, created_at, changed_at)
  on agreements to :"reports";
grant select (order_no, channel_id, external_order_no, product_code, settlement_mode, status, period_type, period, total_cycles,
  amount_cent, created_at, success_at, unsubscribed_at, unsubscribe_source, cycle_no, next_due_at, paid_cycles, paid_amount_cent,
  refund_amount_cent, latest_payment_status, agreement_id, shared, payment_channel_code) on orders to :"reports";
grant select (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, refund_amount_cent, refund_at, attempts)
  on payments to :"reports";
grant select (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status, reason,
  decline_kind, institution_ref, started_at, settled_at, paid_at) on debit_attempts to :"reports";
grant select (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent, tries, reason,
  decline_kind, failed_at) on failed_payments to :"reports";
grant select (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status, reason, started_at,
  refunded_at, settled_at, approval_id, institution_ref, keep_benefits) on refunds to :"reports";
grant select (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, status, issued_at, expires_at,
  claimed_at) on benefits to :"reports";
grant select (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at, fulfilled_at)
  on claims to :"reports";
grant select (payment_channel_code, day, source, lines, differences, run_at) on reconciliations to :"reports";
grant select (difference_no, payment_channel_code, day, kind, line_kind, number, here_amount_cent, here_status, there_amount_cent,
  there_status, first_seen_at, last_seen_at, closed_at) on reconciliation_differences to :"reports";
grant select (month, channel_id, figures, closed_at) on closed_months to :"reports";
grant select (channel_id, from_month, fee_basis_points, fee_fixed_cent, share_basis_points, set_at) on channel_fees to :"reports";
grant select (hour, channel_id, orders_created, orders_ended, debits_paid, debits_failed, paid_cent, billed_cent, refunds,
  refunded_cent, renewals_done, renewals_failed, pushes_accepted, pushes_failed, claims) on hourly_figures to :"reports";
grant select (day, channel_id, orders_created, orders_ended, debits_paid, debits_failed, paid_cent, billed_cent, refunds,
  refunded_cent, renewals_done, renewals_failed, pushes_accepted, pushes_failed, claims) on daily_figures to :"reports";
grant select (channel_id, active, waiting_for_retry, due_today, counted_at) on order_counts to :"reports";
grant select on peer_calls to :"reports";
grant select (event_no, channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, recorded_at) on events to :"reports";
grant select (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, recorded_at, is_payment, is_notice)
  on delivery_attempts to :"reports";
grant select (at, channel_id, endpoint, code, http_status, duration_ms) on request_log to :"reports";

commit;
