-- Contract: what only nodes of the release before 000008 need goes, and what they could not keep to is demanded.
-- Reasons: docs/decisions/0026-upgrades.md.

drop trigger complete_external_order on external_orders;
drop function complete_external_order;
alter table external_orders add constraint external_orders_complete
  check (created_at is not null and single is not null) not valid;
drop trigger complete_delivery_attempt on delivery_attempts;
drop function complete_delivery_attempt;
alter table delivery_attempts add constraint delivery_attempts_complete
  check (recorded_at is not null and is_payment is not null) not valid;

-- Afterwards:

alter table external_orders validate constraint external_orders_complete;
alter table delivery_attempts validate constraint delivery_attempts_complete;

-- Cards that were bound more than once before there was a rule against it: the latest binding takes over, as it would now.
-- As everywhere: orders are locked first. Where no card is bound twice, as nearly everywhere, nobody is locked out.
-- Reasons: docs/decisions/0014-bindings.md.
do $$
begin
  if not exists (
    select from agreements where status = 'BIND_SUCCESS' and source = 'SELF_BINDING'
    group by channel_id, key_of(channel_user_id), payment_channel_code, card_hash having count(*) > 1)
  then
    return;
  end if;
  lock table orders in share row exclusive mode;
  lock table agreements in access exclusive mode;
  create temporary table taken_over on commit drop as
    select agreement_id, first_value(agreement_id) over card as successor_id, institution_hash,
      first_value(institution_hash) over card as successor_hash,
      min(coalesce(line_id, agreement_id)) over (
        partition by channel_id, key_of(channel_user_id), payment_channel_code, card_hash) as line_id
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
end $$;
create unique index concurrently agreements_one_per_card
  on agreements (channel_id, key_of(channel_user_id), payment_channel_code, card_hash)
  where status = 'BIND_SUCCESS' and source = 'SELF_BINDING';

-- Numbers that were shared with nodes of the release before, for orders that have ended since.
call update_in_steps('agreements', 'number_released = true', 'orders o',
  'o.agreement_id = t.agreement_id and t.source = ''SHARED_FROM_CHANNEL'' and t.status = ''BIND_SUCCESS''
   and o.status in (''TERMINATED'', ''UNSUBSCRIBED'') and not t.number_released');

-- Indexes by which the release before finds what this one finds by others.
drop index concurrently if exists external_orders_user;
drop index concurrently if exists agreements_channel_id_key_of_agreement_id_idx;
drop index concurrently if exists agreements_channel_id_card_hash_idx;
drop index concurrently if exists agreements_channel_id_certificate_hash_idx;
drop index concurrently if exists agreements_payment_channel_code_institution_hash_idx;
drop index concurrently if exists due_events_later;
drop index concurrently if exists undelivered_events_channel_id_reason_event_no_idx;
drop index if exists delivery_attempts_event_no_idx;
drop index if exists events_order_no_event_no_idx;
alter table events drop constraint if exists events_pkey;
