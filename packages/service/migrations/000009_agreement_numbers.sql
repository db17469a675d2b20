-- One agreement for each card that a user binds, and one channel for each number of an institution. Reasons:
-- docs/decisions/0014-bindings.md.

-- Of bindings of one card of which each took the place of the one before: the first of them. Null: it is that itself. So the
-- last of a line is found by its card, however long the line is. That there is one in force for each card is held by an index
-- from 000017 on: nodes of the release before this one still bind a card twice.
alter table agreements add column line_id bigint;

-- Whether several channels may share the same number of this institution.
alter table payment_channels add column common_numbers boolean not null default false;

-- Of a shared agreement that is BIND_SUCCESS: whether its order has ended without having run to its end, so that the number is
-- not this channel's because of it. What was shared for an order whose first debit failed does not count: a number that
-- somebody tried once, by mistake or not, would be lost to its owner.
alter table agreements add column number_released boolean not null default false;

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

-- An update of many rows, for migrations: some pages of the table at a time, or of each partition, with a commit after each, so
-- that nobody waits for more than a moment. Repeated after an interruption, it comes to the same if the condition leaves out
-- what is done. The row is t, in `assignments`, `source` and `condition`.
create procedure update_in_steps(target regclass, assignments text, source text, condition text)
  language plpgsql as $$
declare
  step constant integer := 250;
  part regclass;
  pages bigint;
begin
  for part in
    select inhrelid from pg_inherits where inhparent = target
    union all select target where not exists (select from pg_partitioned_table where partrelid = target)
  loop
    pages := pg_relation_size(part) / current_setting('block_size')::integer;
    for page in 0 .. pages by step loop
      execute format('update %s t set %s %s where %s and t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)''', part, assignments,
        'from ' || source, condition, page, page + step);
      commit;
    end loop;
  end loop;
end $$;

-- Afterwards:

call update_in_steps('agreements', 'number_released = true', 'orders o',
  'o.agreement_id = t.agreement_id and t.source = ''SHARED_FROM_CHANNEL'' and t.status = ''BIND_SUCCESS''
   and o.status in (''TERMINATED'', ''UNSUBSCRIBED'') and not t.number_released');

-- What is asked about a number goes by what holds it: rows that have ended or were tried in vain may be any number, and
-- whoever made them must not make others wait.
create index concurrently agreements_number
  on agreements (payment_channel_code, institution_hash, status, number_released, channel_id);

-- The debits on their way on an agreement: few at any moment, whatever has been debited on it before.
create index concurrently debit_attempts_started on debit_attempts (agreement_id) where status = 'STARTED';
