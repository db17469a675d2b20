-- The first range of a new day's filters of request ids is there from the start, and would be written anew for each of the first 2,000
-- requests: 2,250 bytes of log each. Without it those pages are searched until they are full. Reasons: docs/decisions/0012-gathered-creates.md.
create or replace function make_days(parent text, ahead integer) returns integer
  language plpgsql as $$
declare
  today timestamp := date_trunc('day', now() at time zone 'Asia/Shanghai');
  name text;
  made integer := 0;
begin
  for day in 0 .. ahead loop
    name := parent || '_' || to_char(today + day * interval '1 day', 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)', name, parent,
        (today + day * interval '1 day') at time zone 'Asia/Shanghai',
        (today + (day + 1) * interval '1 day') at time zone 'Asia/Shanghai');
      perform leave_first_range_open(to_regclass(name));
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;

create function leave_first_range_open(of_table regclass) returns void
  language sql as $$
  select brin_desummarize_range(i.indexrelid, 0)
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
  where i.indrelid = of_table and m.amname = 'brin'
$$;

-- Days that have not begun.
select leave_first_range_open(i.inhrelid) from pg_inherits i
where i.inhparent = 'request_log'::regclass and pg_relation_size(i.inhrelid) = 0;
