-- Changes that need a second person, and the refunds that had one. Reasons: docs/decisions/0030-console.md.

-- kind CHANGE: the operation, its input without secrets, and the audit entries of a trial that was rolled back. A node of an
-- earlier release cannot carry it out, so it cannot approve it either: it stores no result.
alter table approvals add column change jsonb, add column done_at timestamptz;
alter table approvals drop constraint approvals_kind_check, add constraint approvals_kind_check
  check (kind in ('REFUND', 'BULK')
    or kind = 'CHANGE' and change is not null and (status <> 'APPROVED' or result is not null)) not valid;

-- The approval of a refund. Null: one person has made it alone.
alter table refunds add column approval_id bigint;

-- Afterwards:
create index concurrently approvals_to_carry_out on approvals (requested_by, approval_id)
  where kind = 'CHANGE' and status = 'APPROVED' and done_at is null;
create index concurrently refunds_alone on refunds (requested_by, started_at) where approval_id is null;
alter table approvals validate constraint approvals_kind_check;
