-- Retention and erasure of personal data. Reasons: docs/decisions/0013-personal-data.md.

-- Free texts of audit entries. The chained entry has `textsHash`, the SHA-256 of salt and texts. So a verification accepts a
-- deleted row, but not a changed one.
create table audit_texts (
  audit_id bigint primary key,
  at       timestamptz not null default now(),
  salt     bytea not null,
  texts    text not null -- a JSON object
);
create index on audit_texts (at);

-- The detail of an entry together with its texts.
create function audit_detail(entry audit_log) returns jsonb
  language sql stable parallel safe
  as $$ select coalesce((select entry.detail - 'textsHash' || t.texts::jsonb from audit_texts t where t.audit_id = entry.audit_id),
    entry.detail) $$;

-- Erased users, each by a hash of the id under the channel's look-up key. The hash cannot be linked to the kept rows.
create table erased_users (
  channel_id bigint not null references channels,
  user_hash  bytea not null,
  erased_at  timestamptz not null default now(),
  primary key (channel_id, user_hash)
);

alter table agreements
  add column unused_since    timestamptz, -- when a shared agreement in BIND_SUCCESS was first found without a running order
  add column data_deleted_at timestamptz; -- when `details` was masked. Ignored if changed_at is later

-- Afterwards:
create index concurrently order_notes_at on order_notes (at);
create index concurrently alert_comments_at on alert_comments (at);
