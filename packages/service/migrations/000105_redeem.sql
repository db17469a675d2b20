-- Names in both languages, and confirmations of an unsubscribe (0022-redemption.md).

-- The name on the redemption page in this language. Null: the name itself.
alter table products
  add column name_zh text,
  add column name_en text;
alter table benefit_presentations
  add column name_zh text,
  add column name_en text;

-- Older nodes use `wrong` and `locked_until` instead of the first two.
alter table unsubscribe_tries
  add column guesses integer not null default 0,   -- wrong digits of all visitors since the last success
  add column visitors jsonb not null default '{}', -- by hash of the address: its wrong digits, and the end of its lock in Unix milliseconds
  add column code_hash bytea,                      -- the code that was sent to the user's mobile
  add column code_until timestamptz,
  add column code_wrong smallint not null default 0;
