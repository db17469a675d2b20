-- The same value as before, in a form that PostgreSQL puts into the statement and into the entry of an index. convert_to() is not
-- immutable for it, so each of the five keys of a new order was a statement of its own: a twelfth of what storing an order costs.
-- Databases are in UTF8, which is checked at the start; the doubled backslash is how a text becomes its own bytes.
create or replace function key_of(name text) returns bytea
  language sql immutable parallel safe strict
  as $$ select sha256(replace(name, E'\\', E'\\\\')::bytea) $$;

-- A session that is open plans its statements anew, with the new form, but remembers the old one of each index, and so would use none of
-- them. It reads an index's form again when an option of the index is set: here one that none of them has, to what it is.
do $$
declare
  made_with_key regclass;
begin
  for made_with_key in
    select i.indexrelid from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and pg_get_indexdef(i.indexrelid) like '%key_of(%'
    order by i.indexrelid
  loop
    execute format('alter index %s reset (fillfactor)', made_with_key);
  end loop;
end $$;
