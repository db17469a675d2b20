-- Refunds that were made outside the service are recorded (0017-operators-money.md): as a refund in OUTSIDE, and as a difference
-- of the kind OUTSIDE that stays open until finance has found the transfer.
alter table refunds
  drop constraint refunds_status_check,
  add constraint refunds_status_check check (status in ('STARTED', 'SUCCESS', 'FAIL', 'OUTSIDE')) not valid;
alter table reconciliation_differences
  drop constraint reconciliation_differences_kind_check,
  add constraint reconciliation_differences_kind_check
    check (kind in ('MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'STATE', 'DUPLICATE', 'OUTSIDE')) not valid;
-- An approved record has its result at once. An older node would send the refund to the institution, so it cannot approve it.
alter table approvals
  add column outside boolean not null default false,
  add constraint approvals_outside_check check (not outside or status <> 'APPROVED' or result is not null) not valid;

-- Afterwards:
alter table refunds validate constraint refunds_status_check;
alter table reconciliation_differences validate constraint reconciliation_differences_kind_check;
alter table approvals validate constraint approvals_outside_check;
