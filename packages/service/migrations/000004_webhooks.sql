-- Delivery of events to channels. Reasons: docs/decisions/0021-webhooks.md.

-- Channels list their events and deliveries look them up by number; operators look at those of an order.
alter table events drop constraint events_pkey1;
alter table events add primary key (channel_id, event_no, recorded_at);
create index on events (order_no, event_no);
-- When it was really written, not when its transaction began: one that waited for the order's lock comes after the one that
-- it waited for.
alter table events alter column recorded_at set default clock_timestamp();

-- What is still to be sent, apart from the events themselves: narrow, short-lived rows, read by the one node that holds
-- their shard. All events of a channel have one shard. A range of voided periods is one row (cycle_to) until its turn
-- comes, and then a row for each period (cycle_no).
create table due_events (
  shard       smallint not null,
  next_at     timestamptz not null,
  event_no    bigint not null,
  cycle_no    integer not null default 0,
  channel_id  bigint not null,
  order_no    bigint not null,
  is_payment  boolean not null,
  cycle_to    integer,
  recorded_at timestamptz not null,
  step        smallint not null default 0, -- of the schedule
  retry_no    smallint not null default 0, -- as the channel sees it
  primary key (shard, next_at, event_no, cycle_no)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.5);
-- Whether an event is waiting: at first it is by when it was written, which the key finds, and later here. An event that
-- is accepted at its first push never gets into this index.
create index due_events_later on due_events (channel_id, event_no) where next_at <> recorded_at;

-- Whoever writes an event, it is queued: there is no second thing to remember. Due by when it was written.
create function queue_events() returns trigger
  language plpgsql as $$
begin
  insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at)
  select channel_id % 16, recorded_at, event_no, case when cycle_to is null then 0 else cycle_no end, channel_id, order_no,
    event_type = 'payment.status.changed', cycle_to, recorded_at
  from written;
  return null;
end $$;
create trigger queue_events after insert on events referencing new table as written
  for each statement execute function queue_events();

-- Who sends the events of a shard. The epoch grows with each change of owner and fences what the last one still writes.
-- The lease is the node's, so that renewing it does not touch the rows that the writing down of pushes locks.
create table delivery_nodes (
  node        uuid primary key,
  lease_until timestamptz not null
);
create table delivery_shards (
  shard smallint primary key,
  owner uuid,
  epoch bigint not null default 0
);
insert into delivery_shards (shard) select generate_series(0, 15);

-- Every push and what came of it: append-only, in weeks like the events. The columns are in the order that takes the least
-- room, as these are the most rows of all.
create type delivery_outcome as enum ('ACCEPTED', 'REFUSED', 'TIMEOUT', 'UNREACHABLE', 'FORBIDDEN');
create table delivery_attempts (
  channel_id  bigint not null,
  event_no    bigint not null,
  at          timestamptz not null,
  cycle_no    integer not null,
  outcome     delivery_outcome not null,
  retry_no    smallint not null,
  http_status smallint,          -- null: there was no answer
  latency_ms  smallint not null,
  answer      text               -- the first bytes of it, or why there was none
) partition by range (at);
-- Of all channels the numbers are different ones.
create index on delivery_attempts (event_no);
create table delivery_attempts_default partition of delivery_attempts default;

-- What is not sent any more: given up, or without an address to send it to. A replay takes it up again.
create table undelivered_events (
  channel_id  bigint not null,
  event_no    bigint not null,
  cycle_no    integer not null,
  cycle_to    integer,
  order_no    bigint not null,
  is_payment  boolean not null,
  recorded_at timestamptz not null,
  retry_no    smallint not null,
  reason      text not null check (reason in ('GIVE_UP', 'NO_CALLBACK')),
  since       timestamptz not null default now(),
  primary key (channel_id, event_no, cycle_no)
);
create index on undelivered_events (channel_id, reason, event_no);
create index on undelivered_events (recorded_at);

-- An operator holds deliveries back: of one event type, or of all ('*').
create table delivery_pauses (
  channel_id bigint not null references channels,
  event_type text not null check (event_type in ('*', 'order.status.changed', 'payment.status.changed')),
  paused_by  text not null,
  paused_at  timestamptz not null default now(),
  primary key (channel_id, event_type)
);

-- The weeks of a table in partitions by time: the one that holds this moment, and those ahead of it.
create function make_weeks(parent text, ahead integer) returns integer
  language plpgsql as $$
declare
  monday timestamp := date_trunc('week', now() at time zone 'Asia/Shanghai');
  name text;
  made integer := 0;
begin
  for week in 0 .. ahead loop
    name := parent || '_' || to_char(monday + week * interval '7 days', 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)', name, parent,
        (monday + week * interval '7 days') at time zone 'Asia/Shanghai',
        (monday + (week + 1) * interval '7 days') at time zone 'Asia/Shanghai');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;
drop function make_event_weeks;
select make_weeks('delivery_attempts', 4);

-- Events that were written before there was anybody to send them are told now.
insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, cycle_to, recorded_at)
  select channel_id % 16, recorded_at, event_no, case when cycle_to is null then 0 else cycle_no end, channel_id, order_no,
    event_type = 'payment.status.changed', cycle_to, recorded_at
  from events;
