-- Acts that only the owner of the tables may carry out, as functions with the owner's rights. So the role of a node needs no right to
-- change the schema. Each function knows the tables that it may change. Reasons: docs/decisions/0028-database-connection.md.

-- The length of a partition. Fails for tables that have no partitions by time.
create function partition_step(parent text) returns text
  language plpgsql immutable as $$
begin
  case parent
    when 'events', 'delivery_attempts' then return 'week';
    when 'request_log' then return 'day';
  end case;
end $$;

-- The name of the partition that begins on this day of Asia/Shanghai.
create function partition_name(parent text, first_day timestamp) returns text
  language sql stable as $$ select parent || '_' || to_char(first_day, 'YYYYMMDD') $$;

-- Creates the missing partitions: the current one, and some ahead. Returns their number.
create function make_partitions(parent text, ahead integer) returns integer
  language plpgsql as $$
declare
  step constant text := partition_step(parent);
  length constant interval := ('1 ' || step)::interval;
  first_day timestamp := date_trunc(step, now() at time zone 'Asia/Shanghai');
  made integer := 0;
begin
  if ahead not between 0 and 10 then
    raise exception 'at most 10 partitions are made ahead, not %', ahead;
  end if;
  for n in 0 .. ahead loop
    if to_regclass(partition_name(parent, first_day)) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)', partition_name(parent, first_day), parent,
        first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai');
      if step = 'day' then
        perform leave_first_range_open(to_regclass(partition_name(parent, first_day)));
      end if;
      made := made + 1;
    end if;
    first_day := first_day + length;
  end loop;
  return made;
end $$;

-- For nodes of the previous release.
create or replace function make_weeks(parent text, ahead integer) returns integer
  language sql as $$ select make_partitions(parent, ahead) $$;
create or replace function make_days(parent text, ahead integer) returns integer
  language sql as $$ select make_partitions(parent, ahead) $$;

-- The oldest partition that began before the retention, to the week or day. Null: none did.
create function old_partition(parent text, retention_days integer) returns regclass
  language sql stable as $$
  select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = parent::regclass and c.relname ~ ('^' || parent || '_[0-9]{8}$')
    and to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'Asia/Shanghai'
      < date_trunc(partition_step(parent), now() - retention_days * interval '24 hours', 'Asia/Shanghai')
  order by c.relname limit 1
$$;

-- Drops that partition, but never one of the last seven days. Returns 1, or 0 if there is none.
create function drop_old_partition(parent text, retention_days integer) returns integer
  language plpgsql as $$
declare
  old constant regclass := old_partition(parent, greatest(retention_days, 7));
begin
  perform partition_step(parent);
  if old is null then
    return 0;
  end if;
  execute format('drop table %s', old);
  return 1;
end $$;

-- Empties the default partition, because a new partition cannot be created while the default partition contains rows that belong to
-- it. Moves up to 10,000 rows into new partitions. If there are more, the default partition itself becomes the partition of all their
-- weeks or days where that is possible, because every writer would wait for the move. Returns the number of rows.
create function gather_strays(parent text) returns integer
  language plpgsql as $$
declare
  step constant text := partition_step(parent);
  length constant interval := ('1 ' || step)::interval;
  time_column constant text := case parent when 'events' then 'recorded_at' else 'at' end;
  strays constant text := parent || '_default';
  total integer;
  first_days timestamp[];
  first_day timestamp;
  last_day timestamp;
begin
  execute format($query$
    select sum(rows), array_agg(first_day order by first_day) from (
      select date_trunc(%L, %I at time zone 'Asia/Shanghai') as first_day, count(*) as rows from %I group by 1) spans $query$,
    step, time_column, strays) into total, first_days;
  if total is null then
    return 0;
  end if;
  last_day := first_days[cardinality(first_days)];
  if total > 10000 and last_day at time zone 'Asia/Shanghai' <= now() and not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass
      and c.relname between partition_name(parent, first_days[1]) and partition_name(parent, last_day))
  then
    -- Named after its last week or day, so that it is dropped as late as the partition of that.
    execute format('alter table %I detach partition %I', parent, strays);
    execute format('alter table %I rename to %I', strays, partition_name(parent, last_day));
    execute format('create table %I partition of %I default', strays, parent);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition_name(parent, last_day),
      first_days[1] at time zone 'Asia/Shanghai', (last_day + length) at time zone 'Asia/Shanghai');
    return total;
  end if;
  foreach first_day in array first_days loop
    execute format('create table %I (like %I including all)', partition_name(parent, first_day), parent);
    execute format('with moved as (delete from %I where %I >= $1 and %I < $2 returning *) insert into %I select * from moved',
        strays, time_column, time_column, partition_name(parent, first_day))
      using first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai';
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition_name(parent, first_day),
      first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai');
  end loop;
  return total;
end $$;

-- Locks a sequence of this schema, so that nobody reads it or takes numbers. Does so by setting the owner to the current owner, which
-- changes nothing. Other DDL would give the sequence a new file, and waiting readers would fail (XX001).
create function lock_sequence(name text) returns void
  language plpgsql as $$
begin
  execute format('alter sequence %I owner to %I', name,
    (select pg_get_userbyid(relowner) from pg_class where oid = quote_ident(name)::regclass));
end $$;

-- The search path is fixed: a caller's own tables must not take the place of those of the schema.
do $$
declare
  act regprocedure;
begin
  foreach act in array array['make_partitions(text, integer)', 'drop_old_partition(text, integer)', 'gather_strays(text)',
    'lock_sequence(text)']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I, pg_temp', act, current_schema());
    execute format('revoke execute on function %s from public', act);
  end loop;
end $$;
