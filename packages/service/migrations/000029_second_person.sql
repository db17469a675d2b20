-- Changes that a second operator must approve, and the approvals of refunds. Reasons: docs/decisions/0030-console.md.

-- For the kind CHANGE, `change` has the operation, its input without secrets, and the audit entries of a trial run that was
-- rolled back. Nodes of earlier releases cannot carry out a change. They store no result, so the constraint stops them from
-- approving one.
alter table approvals add column change jsonb, add column done_at timestamptz;
alter table approvals drop constraint approvals_kind_check, add constraint approvals_kind_check
  check (kind in ('REFUND', 'BULK')
    or kind = 'CHANGE' and change is not null and (status <> 'APPROVED' or result is not null)) not valid;

-- The approval of a refund. Null: the refund had none.
alter table refunds add column approval_id bigint;

-- Afterwards:
create index concurrently approvals_to_carry_out on approvals (requested_by, approval_id)
  where kind = 'CHANGE' and status = 'APPROVED' and done_at is null;
create index concurrently refunds_alone on refunds (requested_by, started_at) where approval_id is null;
alter table approvals validate constraint approvals_kind_check;
