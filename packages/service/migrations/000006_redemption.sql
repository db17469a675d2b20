-- The redemption page: claims, where their codes come from, and who may frame it. Reasons: docs/decisions/0022-redemption.md.

-- Where the code of a claimed benefit comes from, by the benefit's code. Without a row here it is GENERATED.
create table benefit_fulfilments (
  benefit_code text primary key,
  kind         text not null check (kind in ('GENERATED', 'POOL', 'SUPPLIER')),
  -- They stay when the kind changes: claims may still wait for the supplier.
  supplier_url text,
  supplier_key text, -- wrapped
  set_at       timestamptz not null default now(),
  check ((supplier_url is null) = (supplier_key is null)),
  check (kind <> 'SUPPLIER' or supplier_url is not null)
);

-- What a user has claimed, and what they got for it. The benefit is CLAIMED from the same transaction on; its code may come
-- later. How it is fulfilled is written down with the claim: changing the setting does not change what was asked for.
create table claims (
  order_no     bigint not null,
  cycle_no     integer not null,
  position     integer not null,
  channel_id   bigint not null,
  benefit_code text not null,
  fulfilment   text not null check (fulfilment in ('GENERATED', 'POOL', 'SUPPLIER')),
  status       text not null check (status in ('PENDING', 'FULFILLED')),
  code         text, -- sealed
  claimed_at   timestamptz not null,
  fulfilled_at timestamptz,
  -- Of one that waits for its supplier: when the supplier is asked next, and how often it was.
  ask_at       timestamptz,
  asked        integer not null default 0,
  primary key (order_no, cycle_no, position),
  check ((status = 'FULFILLED') = (code is not null)),
  check (ask_at is null or (status = 'PENDING' and fulfilment = 'SUPPLIER'))
);
create index claims_to_ask on claims (benefit_code, ask_at) where ask_at is not null;
create index claims_waiting on claims (benefit_code, claimed_at) where status = 'PENDING' and fulfilment = 'POOL';

-- Codes that were bought beforehand. One that was given away keeps its row, so that it is never imported and given again.
create table pool_codes (
  benefit_code text not null,
  code_hash    bytea not null,
  code         text,     -- sealed; gone once it was given away
  imported_at  timestamptz not null default now(),
  position     bigint generated always as identity,
  given_to     text,     -- the claim's number
  primary key (benefit_code, code_hash)
);
create index pool_codes_left on pool_codes (benefit_code, position) where given_to is null;

-- Wrong digits typed by somebody who wants to unsubscribe, by user: every link of theirs counts together.
create table unsubscribe_tries (
  channel_id   bigint not null,
  user_key     bytea not null,
  wrong        smallint not null,
  locked_until timestamptz,
  primary key (channel_id, user_key)
);

-- Whose pages may hold the redemption page in a frame.
alter table channels add column frame_origins text[] not null default '{}';
