-- One agreement for each card that a user binds, and one channel for each number of an institution. Reasons:
-- docs/decisions/0014-bindings.md.

-- As everywhere: orders first. Until the index is there nobody may bind a card or begin an order on one.
lock table orders in share row exclusive mode;
lock table agreements in access exclusive mode;

-- Of bindings of one card of which each took the place of the one before: the first of them. Null: it is that itself. So the
-- last of a line is found by its card, however long the line is.
alter table agreements add column line_id bigint;

-- Cards that were bound more than once before this rule: the latest binding takes over, as it would from now on.
create temporary table taken_over on commit drop as
  select agreement_id, first_value(agreement_id) over card as successor_id, institution_hash,
    first_value(institution_hash) over card as successor_hash,
    min(agreement_id) over (partition by channel_id, key_of(channel_user_id), payment_channel_code, card_hash) as line_id
  from agreements where status = 'BIND_SUCCESS' and source = 'SELF_BINDING'
  window card as (partition by channel_id, key_of(channel_user_id), payment_channel_code, card_hash
    order by changed_at desc, agreement_id desc);
update agreements a set line_id = t.line_id from taken_over t
  where a.agreement_id in (t.agreement_id, t.successor_id) and t.agreement_id <> t.successor_id;
delete from taken_over where agreement_id = successor_id;
update orders o set agreement_id = t.successor_id from taken_over t
  where o.agreement_id = t.agreement_id and o.status in ('ACTIVE', 'INITIALIZING');
update agreements a set status = 'REPLACED', changed_at = now(), cancel_tries = 0,
    cancel_at = case when t.institution_hash is distinct from t.successor_hash then now() end
  from taken_over t where a.agreement_id = t.agreement_id;

create unique index agreements_one_per_card
  on agreements (channel_id, key_of(channel_user_id), payment_channel_code, card_hash)
  where status = 'BIND_SUCCESS' and source = 'SELF_BINDING';

-- Whether several channels may share the same number of this institution.
alter table payment_channels add column common_numbers boolean not null default false;

-- Of a shared agreement that is BIND_SUCCESS: whether its order has ended without having run to its end, so that the number is
-- not this channel's because of it. What was shared for an order whose first debit failed does not count: a number that
-- somebody tried once, by mistake or not, would be lost to its owner.
alter table agreements add column number_released boolean not null default false;
update agreements a set number_released = true from orders o
  where o.agreement_id = a.agreement_id and a.source = 'SHARED_FROM_CHANNEL' and a.status = 'BIND_SUCCESS'
    and o.status in ('TERMINATED', 'UNSUBSCRIBED');

-- What is asked about a number goes by what holds it: rows that have ended or were tried in vain may be any number, and
-- whoever made them must not make others wait. In the place of an index of the first two columns.
drop index agreements_payment_channel_code_institution_hash_idx;
create index agreements_number
  on agreements (payment_channel_code, institution_hash, status, number_released, channel_id);

-- Whether another channel has the number in force: bound, or shared for an order that runs or has run to its end. Two look-ups
-- whatever rows there are, since those of the channel itself lie between those of others. Whoever is about to share the number
-- has its lock and asks then. Volatile, so that it sees what was committed up to this moment: after a wait for the lock, a
-- subquery of the caller's own statement would see what was there when that began.
create function is_number_of_another_channel(code text, hash bytea, channel bigint) returns boolean
  language plpgsql volatile strict as $$
begin
  return exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.status = 'BIND_SUCCESS' and not a.number_released and a.channel_id < channel)
  or exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.status = 'BIND_SUCCESS' and not a.number_released and a.channel_id > channel);
end $$;

-- The debits on their way on an agreement: few at any moment, whatever has been debited on it before.
create index debit_attempts_started on debit_attempts (agreement_id) where status = 'STARTED';
