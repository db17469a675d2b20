-- What users see of a channel and of its benefits, and notices before a debit. Reasons: docs/decisions/0032-whose-page.md and
-- 0033-notice-before-a-debit.md.

-- Pictures as they are served: written anew from what was sent.
create table images (
  image_hash text primary key check (image_hash ~ '^[0-9a-f]{64}$'), -- SHA-256 of the bytes, their name in addresses
  media_type text not null check (media_type in ('image/svg+xml', 'image/png')),
  bytes      bytea not null check (octet_length(bytes) <= 65536),
  stored_at  timestamptz not null default now()
);

-- What is null was not set, and has a default that looks good.
create table channel_brandings (
  channel_id   bigint primary key references channels,
  display_name text,
  logo_hash    text references images,
  accent       text check (accent ~ '^[0-9a-f]{6}$'),
  support      text, -- a phone number, an e-mail address or an https address
  terms_url    text,
  shop_url     text
);
create index on channel_brandings (logo_hash) where logo_hash is not null;

create table benefit_presentations (
  benefit_code   text primary key,
  icon_hash      text references images,
  description_zh text,
  description_en text,
  use_url        text -- where its code is used
);
create index on benefit_presentations (icon_hash) where icon_hash is not null;

-- Null: the channel wants no notices.
alter table channels add column upcoming_notice_days integer check (upcoming_notice_days between 1 and 30);
-- The days of its channel, and the last period that was noticed.
alter table orders add column notice_days integer;
alter table orders add column noticed_cycle integer not null default 0;

-- A channel's orders that are being given new days. The job goes through them twice, since an order may be stored with the
-- former days while it does so the first time.
create table notice_alignments (
  channel_id       bigint primary key references channels,
  rounds_left      integer  not null default 2,
  not_before       timestamptz not null default now(),
  -- Up to where it came, in the order of a channel's orders.
  after_product    text,
  after_created_at timestamptz,
  after_order_no   bigint
);

-- Seconds and not days: what a day is depends on the zone, and then the result could not be in an index.
create function notice_time(due timestamptz, days integer) returns timestamptz
  language sql immutable parallel safe strict
  as $$ select to_timestamp(extract(epoch from due)::double precision - days * 86400) $$;

-- Events of a third type, payment.upcoming: with addresses and pauses of its own.
alter table callback_urls drop constraint callback_urls_event_type_check;
alter table callback_urls add constraint callback_urls_event_type_check
  check (event_type in ('*', 'order.status.changed', 'payment.status.changed', 'payment.upcoming'));
alter table delivery_pauses drop constraint delivery_pauses_event_type_check;
alter table delivery_pauses add constraint delivery_pauses_event_type_check
  check (event_type in ('*', 'order.status.changed', 'payment.status.changed', 'payment.upcoming'));

-- By their key they are among those that are not payment.status.changed, as in the index of events; this tells them from the
-- others there.
alter table due_events add column is_notice boolean not null default false;
alter table undelivered_events add column is_notice boolean not null default false;
alter table delivery_attempts add column is_notice boolean not null default false;

create or replace function queue_events() returns trigger
  language plpgsql as $$
begin
  insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to, recorded_at)
  select channel_id % 16, recorded_at, event_no, case when cycle_to is null then 0 else cycle_no end, channel_id, order_no,
    event_type = 'payment.status.changed', event_type = 'payment.upcoming', cycle_to, recorded_at
  from written;
  return null;
end $$;

-- Afterwards:
-- Notices alone, the newest first: among the other events, they may be few. Other events have no entry.
create index concurrently events_notices on events (channel_id, recorded_at, event_no) where event_type = 'payment.upcoming';
create index concurrently delivery_attempts_of_notices on delivery_attempts (channel_id, recorded_at, event_no)
  where outcome = 'ACCEPTED' and is_notice;
-- The schedule of notices. Only orders of channels that want them have an entry.
create index concurrently orders_to_notice on orders (notice_time(next_due_at, notice_days), order_no)
  where notice_days is not null and next_due_at is not null and status = 'ACTIVE' and noticed_cycle <= cycle_no
    and cycle_no < total_cycles and latest_payment_status <> 'FAIL_RETRY';
