-- The same value as before, in a form that PostgreSQL puts into the statement and into the entry of an index. convert_to() is not
-- immutable for it, so each of the five keys of a new order was a statement of its own: a twelfth of what storing an order costs.
-- Databases are in UTF8, which is checked at the start; the doubled backslash is how a text becomes its own bytes.
create or replace function key_of(name text) returns bytea
  language sql immutable parallel safe strict
  as $$ select sha256(replace(name, E'\\', E'\\\\')::bytea) $$;
