-- Later periods, refunds, reconciliation, and growing tables in partitions. Reasons: docs/decisions/0016-renewals.md,
-- 0017-operators-money.md, 0018-reconciliation.md and 0019-housekeeping.md.

-- What is due is found by mode, and in mode A by payment channel, since each has a pace of its own.
alter table orders add column payment_channel_code text;
update orders o set payment_channel_code = a.payment_channel_code from agreements a where a.agreement_id = o.agreement_id;
drop index orders_next_due_at_idx;
create index orders_due_collect on orders (next_due_at, order_no)
  where next_due_at is not null and settlement_mode = 'CHANNEL_COLLECT';
create index orders_due_deduct on orders (payment_channel_code, next_due_at, order_no)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT';

-- A user's orders are found by the table whose rows never change. Each renewal makes a new version of its order's row, and
-- an index of orders by user then took a quarter of the time, and wrote a page to the log for nearly every one.
alter table external_orders add column user_key bytea;
update external_orders e set user_key = key_of(o.channel_user_id) from orders o where o.order_no = e.order_no;
alter table external_orders alter column user_key set not null;
drop index orders_channel_id_key_of_idx;
create index external_orders_user on external_orders (channel_id, user_key);
-- Whoever ends an order, nothing of it is due any more: debiting one that has ended would be the worst of all mistakes.
alter table orders add constraint orders_due_while_active check (next_due_at is null or status = 'ACTIVE');

-- Of a payment channel with debits per second: what its debits have used up so far, as the moment it reaches to. One row
-- for all nodes, made when first needed.
create table debit_paces (
  code        text primary key references payment_channels,
  used_up_to  timestamptz not null
);

-- When the institution took the money, by its own clock: what its statements go by. Rows are settled in the order of time,
-- so a block range index finds a day or a month and costs next to nothing to keep.
alter table debit_attempts add column paid_at timestamptz;
update debit_attempts a set paid_at = p.paid_at from payments p
  where a.status = 'SUCCESS' and p.order_no = a.order_no and p.cycle_no = a.cycle_no;
create index on debit_attempts using brin (paid_at) with (pages_per_range = 32);
create index on payments using brin (paid_at) with (pages_per_range = 32);

-- A refund is written down before the institution is asked for it, like a debit. Its number is the period's followed by
-- two digits, under which it may be asked for as often as need be.
create table refunds (
  order_no             bigint not null,
  cycle_no             integer not null,
  refund_seq           integer not null check (refund_seq between 1 and 99),
  try_no               integer not null, -- the attempt that took the money
  channel_id           bigint not null,
  payment_channel_code text not null,
  amount_cent          bigint not null check (amount_cent > 0),
  status               text not null default 'STARTED' check (status in ('STARTED', 'SUCCESS', 'FAIL')),
  reason               text,                 -- why the institution refused
  request_key          text,                 -- the operator's own: asked for again, it is the same refund
  requested_by         text not null,
  note                 text,
  started_at           timestamptz not null,
  refunded_at          timestamptz,          -- the institution's time
  settled_at           timestamptz,
  ask_at               timestamptz,
  asked                integer not null default 0,
  primary key (order_no, cycle_no, refund_seq)
);
create unique index refunds_request on refunds (order_no, cycle_no, request_key) where request_key is not null;
create index on refunds (ask_at) where ask_at is not null;
create index on refunds using brin (refunded_at) with (pages_per_range = 8);

-- An institution's statement of one day against what is known here.
create table reconciliations (
  payment_channel_code text not null,
  day                  date not null,
  source               text not null check (source in ('GATEWAY', 'FILE')),
  lines                bigint not null,
  differences          integer not null,
  run_by               text not null,
  run_at               timestamptz not null default now(),
  primary key (payment_channel_code, day)
);

create table reconciliation_differences (
  difference_no        bigint generated always as identity primary key,
  payment_channel_code text not null,
  day                  date not null,
  kind                 text not null check (kind in ('MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'STATE', 'DUPLICATE')),
  line_kind            text not null check (line_kind in ('debit', 'refund')),
  number               text not null,        -- attemptNo or refundNo
  here_amount_cent     bigint,
  here_status          text,
  there_amount_cent    bigint,
  there_status         text,
  first_seen_at        timestamptz not null default now(),
  last_seen_at         timestamptz not null default now(),
  closed_by            text,
  closed_at            timestamptz,
  closing_note         text,
  constraint reconciliation_differences_once unique (payment_channel_code, day, kind, line_kind, number)
);
create index on reconciliation_differences (day) where closed_at is null;

-- How far a job that walks along time has come.
create table job_marks (
  job        text primary key,
  reached_at timestamptz not null
);

-- Events are append-only and in partitions of a week by when they were written, so that the old ones go by a drop. The
-- default partition is empty as long as the weeks ahead are made in time; nothing that was to be told is ever refused.
alter table events rename to events_unpartitioned;
create sequence event_numbers as bigint;
create table events (
  event_no    bigint not null default nextval('event_numbers'),
  channel_id  bigint not null,
  order_no    bigint not null,
  event_type  text not null,
  cycle_no    integer,
  cycle_to    integer,
  occurred_at timestamptz not null,
  data        text not null,
  recorded_at timestamptz not null default now(),
  primary key (order_no, event_no, recorded_at)
) partition by range (recorded_at);
alter sequence event_numbers owned by events.event_no;
create table events_default partition of events default;

-- The week that holds a moment, and those ahead of it. Weeks begin on Monday in Asia/Shanghai whatever the session says.
create function make_event_weeks(ahead integer) returns integer
  language plpgsql as $$
declare
  monday timestamp := date_trunc('week', now() at time zone 'Asia/Shanghai');
  name text;
  made integer := 0;
begin
  for week in 0 .. ahead loop
    name := 'events_' || to_char(monday + week * interval '7 days', 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I partition of events for values from (%L) to (%L)', name,
        (monday + week * interval '7 days') at time zone 'Asia/Shanghai',
        (monday + (week + 1) * interval '7 days') at time zone 'Asia/Shanghai');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;
select make_event_weeks(4);

insert into events (event_no, channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
  select event_no, channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data
  from events_unpartitioned order by event_no;
select setval('event_numbers', coalesce((select max(event_no) from events), 0) + 1, false);
drop table events_unpartitioned;
