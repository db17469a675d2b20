-- Forms of encrypted fields, and what keeps the first of them from giving texts away. Reasons:
-- docs/decisions/0001-wire.md, docs/decisions/0013-personal-data.md.

alter table channels
  -- For events, and for answers to requests that have no encrypted field to go by.
  add column answer_encryption text not null default 'v1' check (answer_encryption in ('v1', 'v2')),
  add column accepts_v1 boolean not null default true;

-- Written when a field fails and at no other time. The minute begins with the first failure in it.
create table undecryptable_fields (
  channel_id   bigint primary key references channels,
  minute_began timestamptz not null default now(),
  failures     integer not null default 1
);
