-- One agreement for each card that a user binds, and one channel for each number of an institution. Reasons:
-- docs/decisions/0014-bindings.md.

-- Of a binding that is REPLACED: the one of the same card that stands for it. That there is one for each card is held by an
-- index from 000017 on: nodes of the release before this one still bind a card twice.
alter table agreements add column successor_id bigint;

-- Whether several channels may share the same number of this institution.
alter table payment_channels add column common_numbers boolean not null default false;

-- Whether another channel has the number in force: bound, or shared for an order that runs or has run to its end. What was
-- shared for one whose first debit failed does not count: a number that somebody tried once, by mistake or not, would be
-- lost to its owner. Whoever is about to share the number has its lock and asks then. Volatile, so that it sees what was
-- committed up to this moment: after a wait for the lock, a subquery of the caller's own statement would see what was there
-- when that began. The first question is the whole of it nearly always, and costs a creation less than the second would.
create function is_number_of_another_channel(code text, hash bytea, channel bigint) returns boolean
  language plpgsql volatile strict as $$
begin
  if not exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.channel_id <> channel and a.status = 'BIND_SUCCESS')
  then
    return false;
  end if;
  return exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.channel_id <> channel and a.status = 'BIND_SUCCESS'
      and (a.source = 'SELF_BINDING' or exists (
        select from external_orders e join orders o on o.order_no = e.order_no
        where e.channel_id = a.channel_id and e.user_key = key_of(a.channel_user_id)
          and o.agreement_id = a.agreement_id and o.status in ('INITIALIZING', 'ACTIVE', 'COMPLETED'))));
end $$;
