-- What the service must agree on before it knows any subscription: who may call, with what, how often, and what was
-- already answered. Reasons: docs/decisions/.

create table installation (
  only_row         boolean primary key default true check (only_row),
  environment      text not null check (environment in ('sandbox', 'production')),
  master_key_check text not null,
  created_at       timestamptz not null default now()
);

create table channels (
  channel_id           bigint generated always as identity (start with 100001) primary key,
  app_id               text not null unique,
  name                 text not null,
  status               text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED')),
  -- Grows with every change that a node may have cached; each request compares it, so a change holds at once.
  version              bigint not null default 1,
  -- Grows when the live access tokens must end.
  token_epoch          integer not null default 1,
  -- The channel's own key, wrapped under MASTER_KEY; the three secrets are sealed under it.
  data_key             text not null,
  app_secret           text not null,
  aes_key              text not null,
  callback_secret      text not null,
  ip_allow_list        cidr[] not null default '{}',
  rate_per_second      integer not null check (rate_per_second between 1 and 1000000),
  rate_burst           integer not null check (rate_burst >= rate_per_second and rate_burst <= 10000000),
  voided_period_events boolean not null default true,
  created_at           timestamptz not null default now()
);

create table callback_urls (
  channel_id bigint not null references channels,
  -- '*' is the default for the types without a row of their own
  event_type text not null check (event_type in ('*', 'order.status.changed', 'payment.status.changed')),
  url        text not null,
  primary key (channel_id, event_type)
);

create table products (
  product_code    text primary key,
  product_name    text not null,
  settlement_modes text[] not null
    check (settlement_modes <@ array['SVC_DEDUCT', 'CHANNEL_COLLECT'] and cardinality(settlement_modes) between 1 and 2),
  period_type     text not null check (period_type in ('DAY', 'MONTH')),
  period          integer not null check (period between 1 and 1200),
  total_cycles    integer not null check (total_cycles between 1 and 9999),
  amount_cent     bigint not null check (amount_cent between 1 and 100000000000),
  retry_delays    integer[] not null, -- seconds after the failed attempt
  created_at      timestamptz not null default now()
);

create table product_benefits (
  product_code    text not null references products,
  benefit_code    text not null,
  position        integer not null,
  name            text not null,
  face_value_cent bigint not null check (face_value_cent >= 0),
  primary key (product_code, benefit_code)
);

create table channel_products (
  channel_id    bigint not null references channels,
  product_code  text not null references products,
  authorized_at timestamptz not null default now(),
  primary key (channel_id, product_code)
);

create table payment_channels (
  code               text primary key,
  display_name       text not null,
  gateway            text not null check (gateway in ('sandbox', 'bridge')),
  gateway_url        text,
  supported_banks    text[] not null check (cardinality(supported_banks) > 0),
  bank_code_required boolean not null default false,
  -- Pacing of renewals: both optional. Hours of the day in Asia/Shanghai, from inclusive, to exclusive.
  debits_per_second  integer check (debits_per_second > 0),
  debit_hour_from    integer check (debit_hour_from between 0 and 23),
  debit_hour_to      integer check (debit_hour_to between 1 and 24),
  created_at         timestamptz not null default now(),
  check ((debit_hour_from is null) = (debit_hour_to is null) and debit_hour_from <> debit_hour_to),
  check ((gateway = 'bridge') = (gateway_url is not null))
);

create table channel_payment_channels (
  channel_id    bigint not null references channels,
  code          text not null references payment_channels,
  is_default    boolean not null default false,
  share_enabled boolean not null default false,
  authorized_at timestamptz not null default now(),
  primary key (channel_id, code)
);
create unique index on channel_payment_channels (channel_id) where is_default;

-- A ring of partitions by the request's signed timestamp in steps of ten minutes. At any moment three are in use and
-- the fourth can be truncated, so expiry costs neither deletes nor vacuum nor DDL.
create table nonces (
  slot       smallint not null,
  channel_id bigint not null,
  nonce      bytea not null,
  seen_at    timestamptz not null,
  -- The slot last: a nonce is also looked for in the other slots, and an empty or never analyzed one must not be scanned
  -- (measured: 2 to 5 ms a statement against 94 with the slot first, at 200,000 nonces).
  primary key (channel_id, nonce, slot)
) partition by list (slot);
create table nonces_0 partition of nonces for values in (0);
create table nonces_1 partition of nonces for values in (1);
create table nonces_2 partition of nonces for values in (2);
create table nonces_3 partition of nonces for values in (3);

-- One token bucket per channel, on the database's clock. `granted` is what the last update gave.
create table rate_limits (
  channel_id  bigint primary key,
  tokens      double precision not null,
  refilled_at timestamptz not null default now(),
  granted     integer not null default 0
) with (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

create table idempotency (
  channel_id  bigint not null,
  key         text not null,
  path        text not null,
  body_sha256 bytea not null,
  state       text not null check (state in ('RUNNING', 'DONE')),
  -- RUNNING: work in two steps whose first is committed. Who is at it, until when, and on what.
  owner       uuid,
  lease_until timestamptz,
  subject     text,
  -- DONE: the answer.
  code        text,
  message     text,
  data        text,
  created_at  timestamptz not null default now(),
  primary key (channel_id, key)
) with (toast_tuple_target = 8160);
alter table idempotency alter column data set storage main;
create index on idempotency using brin (created_at);

create table audit_log (
  audit_id bigint generated always as identity primary key,
  at       timestamptz not null default now(),
  actor    text not null,
  action   text not null,
  subject  text not null,
  detail   jsonb not null
);
create index on audit_log (subject, audit_id);
