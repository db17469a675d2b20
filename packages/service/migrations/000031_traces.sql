-- Traces of what people do, and protection of their accounts. Reasons: docs/decisions/0030-console.md.

-- Failed sign-ins of the current minute. The engine moves them to the audit log when the minute is over.
create table sign_in_traces (
  minute   timestamptz not null,
  name     text not null, -- of an account; empty if there is no such account, because it may be a mistyped password
  address  text not null, -- empty, as is the name, for the failures beyond the first names and addresses of the minute
  failures integer not null default 1,
  primary key (minute, name, address)
);

-- The hashes of the last five passwords before the current one, latest first. A trigger keeps them, for older nodes too.
alter table people add column former_passwords text[] not null default '{}';
create function keep_former_password() returns trigger
  language plpgsql as $$
begin
  new.former_passwords := (array[old.password_hash] || old.former_passwords)[1:5];
  return new;
end $$;
create trigger keep_former_password before update of password_hash on people for each row
  when (old.password_hash is not null and old.password_hash is distinct from new.password_hash)
  execute function keep_former_password();

-- True if the identity provider has authenticated the operator, who then needs no code of this service.
alter table console_sessions add column by_single_sign_on boolean not null default false;
alter table single_sign_on_tries
  add column is_proof boolean not null default false, -- the provider must ask for the password again
  add column replaces bytea;                          -- the hash of the token of the session that this sign-in replaces
