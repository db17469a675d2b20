-- Failed sign-ins, former passwords and confirmations by single sign-on. Reasons: docs/decisions/0030-console.md.

-- Failed sign-ins by minute. The engine moves them to the audit log when the minute is over.
create table sign_in_traces (
  minute   timestamptz not null,
  name     text not null, -- empty if no account has the name, because it may be a password in the wrong field
  address  text not null, -- name and address are empty for failures beyond the first 20 pairs of the minute
  failures integer not null default 1,
  primary key (minute, name, address)
);

-- The hashes of the last five passwords before the current one, latest first. A trigger stores them, so that passwords set
-- at older nodes are included.
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

-- True if the identity provider has authenticated the operator. Such a session needs no code of this service.
alter table console_sessions add column by_single_sign_on boolean not null default false;
alter table single_sign_on_tries
  add column is_proof boolean not null default false, -- the provider must authenticate the operator again
  add column replaces bytea;                          -- the hash of the token of the session that this sign-in replaces
