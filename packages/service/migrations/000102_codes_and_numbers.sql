-- The codes of benefits: a hash for the search, when users saw a code, and replaced codes (0022-redemption.md). The index of the
-- institutions' references of debits, for the search.

alter table claims
  add column code_hash      bytea,                        -- keyed, of the current code
  add column first_shown_at timestamptz,                  -- when the page has shown the current code
  add column last_shown_at  timestamptz,
  add column replaced       integer not null default 0,   -- the number of earlier codes
  add column replaced_at    timestamptz,
  add column code_of        integer not null default 0;   -- the value of `replaced` for which the code was issued

-- Refuses a code that was issued before the last replacement. A node of the previous release does not write code_of, so it cannot
-- store the former code of its supplier again.
alter table claims add constraint claims_code_is_current check (code is null or code_of = replaced) not valid;

-- Codes that an operator has replaced. Only their hashes are kept.
create table replaced_codes (
  order_no       bigint not null,
  cycle_no       integer not null,
  position       integer not null,
  nth            integer not null, -- 0: the first code of the claim
  channel_id     bigint not null,
  code_hash      bytea not null,
  fulfilled_at   timestamptz,
  first_shown_at timestamptz,
  last_shown_at  timestamptz,
  replaced_at    timestamptz not null,
  replaced_by    text not null,
  primary key (order_no, cycle_no, position, nth)
);
create index replaced_codes_of_code on replaced_codes (code_hash);

-- Afterwards:
alter table claims validate constraint claims_code_is_current;
create index concurrently if not exists claims_of_code on claims (code_hash) where code_hash is not null;
-- Codes that earlier releases have stored, until the engine has hashed them.
create index concurrently if not exists claims_to_hash on claims (order_no, cycle_no, position)
  where code is not null and code_hash is null;
create index concurrently if not exists debit_attempts_of_reference on debit_attempts (institution_ref)
  where institution_ref is not null;
