-- Every list by key: a page is found by an index for each of its filters, wherever it begins and however long the list is.
-- Reasons: docs/decisions/0001-wire.md and 0021-webhooks.md.

-- A user's orders, newest first. What the order is found by stands with its number, in the table whose rows never change.
alter table external_orders add column created_at timestamptz, add column single boolean;
update external_orders e set created_at = o.created_at, single = o.total_cycles = 1 from orders o where o.order_no = e.order_no;
alter table external_orders alter column created_at set not null, alter column single set not null;
drop index external_orders_user;
create index external_orders_user on external_orders (channel_id, user_key, single, created_at, order_no);

-- What a channel is authorized for.
create index on channel_products (channel_id, authorized_at desc, product_code);
create index on channel_payment_channels (channel_id, authorized_at desc, code);

-- A user's agreements, by each of three ways to ask for them. Those that were never bound are not listed.
drop index agreements_channel_id_key_of_agreement_id_idx;
drop index agreements_channel_id_card_hash_idx;
drop index agreements_channel_id_certificate_hash_idx;
create index agreements_user on agreements (channel_id, key_of(channel_user_id), (agreement_no is not null), agreement_id);
create index agreements_card on agreements (channel_id, card_hash, (agreement_no is not null), agreement_id);
create index agreements_certificate on agreements (channel_id, certificate_hash, (agreement_no is not null), agreement_id);

-- Events, and what has become of them, have one key in all four tables: channel, kind, when the event was written, number.
-- So each status is listed from the table that has it alone, in the order of time.
alter table events drop constraint events_pkey;
alter table events add primary key (event_no, recorded_at);
create index events_listed on events (channel_id, (event_type = 'payment.status.changed'), recorded_at, event_no);
drop index events_order_no_event_no_idx;
create index events_of_order on events (order_no, recorded_at, event_no);

drop index due_events_later;
create index due_events_listed on due_events (channel_id, is_payment, recorded_at, event_no);

drop index undelivered_events_channel_id_reason_event_no_idx;
create index undelivered_events_listed on undelivered_events (channel_id, reason, is_payment, recorded_at, event_no);

-- Pushes carry the rest of the key. Made anew, as the columns are in the order that takes the least room.
alter table delivery_attempts rename to delivery_attempts_before;
create table delivery_attempts (
  channel_id  bigint not null,
  event_no    bigint not null,
  recorded_at timestamptz not null, -- the event
  at          timestamptz not null,
  cycle_no    integer not null,
  outcome     delivery_outcome not null,
  retry_no    smallint not null,
  http_status smallint,             -- null: there was no answer
  latency_ms  smallint not null,
  is_payment  boolean not null,
  answer      text                  -- the first bytes of it, or why there was none
) partition by range (at);
do $$
declare
  part record;
begin
  for part in
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'delivery_attempts_before'::regclass
  loop
    execute format('alter table %I rename to %I', part.name, part.name || '_before');
    execute format('create table %I partition of delivery_attempts %s', part.name, part.bound);
  end loop;
end $$;
insert into delivery_attempts
  select t.channel_id, t.event_no, coalesce(e.recorded_at, t.at), t.at, t.cycle_no, t.outcome, t.retry_no, t.http_status,
    t.latency_ms, coalesce(e.event_type = 'payment.status.changed', false), t.answer
  from delivery_attempts_before t left join events e on e.event_no = t.event_no;
drop table delivery_attempts_before;
-- What was accepted is listed, and is most of all; the others are only looked up. Each push is in one of the two.
create index delivery_attempts_accepted on delivery_attempts (channel_id, is_payment, recorded_at, event_no)
  where outcome = 'ACCEPTED';
create index delivery_attempts_failed on delivery_attempts (event_no) where outcome <> 'ACCEPTED';
