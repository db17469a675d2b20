-- Every list by key: a page is found by an index for each of its filters, wherever it begins and however long the list is.
-- Reasons: docs/decisions/0001-wire.md and 0021-webhooks.md.

-- A user's orders, newest first. What the order is found by stands with its number, in the table whose rows never change.
alter table external_orders add column created_at timestamptz, add column single boolean;

-- What is stored by a node of the release before, which does not know the two columns: filled in when it commits, since the
-- order may be stored after its number.
create function complete_external_order() returns trigger
  language plpgsql as $$
begin
  update external_orders e set created_at = o.created_at, single = o.total_cycles = 1 from orders o
  where o.order_no = new.order_no and key_of(e.external_order_no) = key_of(new.external_order_no);
  return null;
end $$;
create constraint trigger complete_external_order after insert on external_orders deferrable initially deferred
  for each row when (new.created_at is null) execute function complete_external_order();

-- What a channel is authorized for.
create index on channel_products (channel_id, authorized_at desc, product_code);
create index on channel_payment_channels (channel_id, authorized_at desc, code);

-- Events, and what has become of them, have one key in all four tables: channel, kind, when the event was written, number.
-- So each status is listed from the table that has it alone, in the order of time. Pushes lack two of these.
alter table delivery_attempts add column recorded_at timestamptz, add column is_payment boolean;

-- Again for the release before.
create function complete_delivery_attempt() returns trigger
  language plpgsql as $$
begin
  select e.recorded_at, e.event_type = 'payment.status.changed' into new.recorded_at, new.is_payment
    from events e where e.channel_id = new.channel_id and e.event_no = new.event_no;
  new.recorded_at := coalesce(new.recorded_at, new.at);
  new.is_payment := coalesce(new.is_payment, false);
  return new;
end $$;
create trigger complete_delivery_attempt before insert on delivery_attempts
  for each row when (new.recorded_at is null) execute function complete_delivery_attempt();

-- Afterwards:

call update_in_steps('external_orders', 'created_at = o.created_at, single = o.total_cycles = 1',
  'orders o', 'o.order_no = t.order_no and t.created_at is null');
create index concurrently external_orders_listed on external_orders (channel_id, user_key, single, created_at, order_no);

-- Of an event that is gone, nothing but its pushes is left.
call update_in_steps('delivery_attempts', 'recorded_at = e.recorded_at, is_payment = e.event_type = ''payment.status.changed''',
  'events e', 'e.channel_id = t.channel_id and e.event_no = t.event_no and t.recorded_at is null');
call update_in_steps('delivery_attempts', 'recorded_at = t.at, is_payment = false', null, 't.recorded_at is null');
-- What was accepted is listed, and is most of all; the others are only looked up. Each push is in one of the two.
create index concurrently delivery_attempts_accepted on delivery_attempts (channel_id, is_payment, recorded_at, event_no)
  where outcome = 'ACCEPTED';
create index concurrently delivery_attempts_failed on delivery_attempts (event_no) where outcome <> 'ACCEPTED';

create unique index concurrently events_number on events (event_no, recorded_at);
create index concurrently events_listed on events
  (channel_id, (event_type = 'payment.status.changed'), recorded_at, event_no);
create index concurrently events_of_order on events (order_no, recorded_at, event_no);
create index concurrently due_events_listed on due_events (channel_id, is_payment, recorded_at, event_no);
create index concurrently undelivered_events_listed on undelivered_events
  (channel_id, reason, is_payment, recorded_at, event_no);

-- A user's agreements, by each of three ways to ask for them. Those that were never bound are not listed.
create index concurrently agreements_user on agreements
  (channel_id, key_of(channel_user_id), (agreement_no is not null), agreement_id);
create index concurrently agreements_card on agreements (channel_id, card_hash, (agreement_no is not null), agreement_id);
create index concurrently agreements_certificate on agreements
  (channel_id, certificate_hash, (agreement_no is not null), agreement_id);
