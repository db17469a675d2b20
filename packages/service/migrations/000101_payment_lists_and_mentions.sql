-- Payments and refunds as lists, refunds that support requests, mentions in notes, and saved views (0030-console.md).

-- True for a refund that support requested: the requester is also notified of an approval.
alter table approvals add column tells_approval boolean not null default false;

-- The operators that a note mentions, by name or by role.
create table mentions (
  note_id   bigint not null references order_notes on delete cascade,
  person_id bigint not null,
  seen_at   timestamptz, -- when the operator has dismissed it
  primary key (note_id, person_id)
);
create index mentions_unseen on mentions (person_id, note_id) where seen_at is null;

-- An operator's own names for filters of a list. The address is a page with its filters.
create table saved_views (
  view_id   bigint generated always as identity primary key,
  person_id bigint not null,
  name      text not null,
  address   text not null
);
create unique index saved_views_name on saved_views (person_id, name);

-- Afterwards:
create index concurrently if not exists approvals_to_tell on approvals (requested_by, approval_id)
  where tells_approval and status = 'APPROVED' and seen_at is null;
create index concurrently if not exists debit_attempts_of_channel on debit_attempts (channel_id, started_at);
create index concurrently if not exists refunds_of_channel on refunds (channel_id, started_at);
