-- Alerts reach people, and end when their cause is gone (docs/decisions/0024-alerts-and-copies.md).

-- What people have not been told about an alert yet. The default is for nodes of an earlier version, which do not know of it.
alter table alerts
  add column resolved_at      timestamptz,
  add column resolved_because text,
  add column to_tell          text default 'OPEN' check (to_tell in ('OPEN', 'RESOLVED')),
  add column told_at          timestamptz; -- as open; empty once its end was told
update alerts set to_tell = null where acknowledged_at is not null;
create index alerts_to_tell on alerts (kind) where to_tell is not null;
create index alerts_unresolved on alerts (kind) where resolved_at is null;

-- What is to be sent, each by one way. A row is written in the transaction that marks its alerts as told, and stays due
-- until the receiver has taken it.
create table alert_messages (
  message_id bigint generated always as identity primary key,
  way        text not null check (way in ('WEBHOOK', 'EMAIL')),
  what       text not null check (what in ('OPEN', 'STILL_OPEN', 'RESOLVED')),
  kind       text not null,
  content    jsonb not null,
  written_at timestamptz not null default now(),
  send_at    timestamptz default now(), -- empty once it was taken
  tries      integer not null default 0,
  failure    text,                      -- of the last try
  sent_at    timestamptz
);
create index alert_messages_due on alert_messages (way, send_at) where send_at is not null;
create index alert_messages_written on alert_messages (kind, what, written_at);
create index on alert_messages using brin (written_at);
