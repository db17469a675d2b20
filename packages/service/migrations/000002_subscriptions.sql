-- Users, agreements, orders, their periods, benefits, and the events about them. Every row carries its channel. Hot tables
-- have no foreign keys: they cost a third of the rate. Reasons: docs/decisions/0010-subscriptions.md.

-- paymentOrderNo is orderNo x 10,000 + cycleNo and must stay a 64-bit number, so order numbers end below 9 x 10^14.
-- A node takes a block of numbers at a time and knows an order's number before it is stored.
create sequence order_numbers as bigint start with 100000001000 increment by 1000 maxvalue 900000000000000;
create sequence agreement_numbers as bigint start with 200000000001;

-- A text of 1,024 characters may be too long for an index row; what channels name is unique and found by this instead.
create function key_of(name text) returns bytea
  language sql immutable parallel safe strict
  as $$ select sha256(convert_to(name, 'UTF8')) $$;

-- One mobile, one user within a channel, both ways. A row never changes.
create table channel_users (
  channel_id      bigint not null,
  channel_user_id text not null,
  mobile_hash     bytea not null,
  mobile          text not null, -- sealed
  bound_at        timestamptz not null default now(),
  constraint channel_users_mobile primary key (channel_id, mobile_hash)
);
create unique index channel_users_user on channel_users (channel_id, key_of(channel_user_id));

create table agreements (
  agreement_id         bigint primary key, -- of a binding also its bindOrderNo
  channel_id           bigint not null,
  channel_user_id      text not null,
  payment_channel_code text not null,
  source               text not null check (source in ('SELF_BINDING', 'SHARED_FROM_CHANNEL')),
  status               text not null
    check (status in ('BIND_ING', 'BIND_SUCCESS', 'BIND_FAIL', 'CANCELED', 'REPLACED')),
  agreement_no         text,          -- given once bound
  institution_no       text,          -- sealed: what the institution calls it
  institution_hash     bytea,         -- of the same, to find it by an institution's notice
  card_hash            bytea not null,
  certificate_hash     bytea not null,
  card_tail            text not null,
  details              text not null, -- sealed JSON: card, document, name, bank mobile
  bank_code            text,
  -- A binding under way: the code that was sent.
  code_sent_at         timestamptz,
  wrong_codes          integer not null default 0,
  gateway_reference    text,
  -- A cancellation asked for at the institution: when it is tried again, how often it was. Null: nothing to do.
  cancel_at            timestamptz,
  cancel_tries         integer not null default 0,
  created_at           timestamptz not null default now(),
  changed_at           timestamptz not null default now()
);
create index on agreements (channel_id, key_of(channel_user_id), agreement_id);
create index on agreements (channel_id, card_hash);
create index on agreements (channel_id, certificate_hash);
create index on agreements (payment_channel_code, institution_hash);
create index on agreements (cancel_at) where cancel_at is not null;

-- Keys of the installation for look-ups across channels, wrapped under MASTER_KEY.
create table look_up_keys (
  purpose text primary key,
  wrapped text not null
);

alter table payment_channels add column gateway_key text; -- of a bridge: its signing key, wrapped under MASTER_KEY

-- Codes sent to a bank mobile, for the limits of production.
create table sms_sends (
  bank_mobile_hash bytea not null,
  sent_at          timestamptz not null default now()
);
create index on sms_sends (bank_mobile_hash, sent_at);

-- externalOrderNo is unique among all channels, so it has a table of its own, keyed by it alone.
create table external_orders (
  external_order_no text not null,
  channel_id        bigint not null,
  order_no          bigint not null
);
create unique index external_orders_number on external_orders (key_of(external_order_no));

create table orders (
  order_no              bigint primary key,
  channel_id            bigint not null,
  external_order_no     text not null,
  channel_user_id       text not null,
  product_code          text not null,
  settlement_mode       text not null check (settlement_mode in ('SVC_DEDUCT', 'CHANNEL_COLLECT')),
  status                text not null
    check (status in ('INITIALIZING', 'ACTIVE', 'UNSUBSCRIBED', 'COMPLETED', 'TERMINATED')),
  period_type           text not null,
  period                integer not null,
  total_cycles          integer not null,
  amount_cent           bigint not null,
  created_at            timestamptz not null, -- the anchor of all due times
  success_at            timestamptz,
  unsubscribed_at       timestamptz,
  unsubscribe_source    text,
  unsubscribe_reason    text,
  -- The last period that was started, and when the next step is due. Null: nothing is.
  cycle_no              integer not null,
  next_due_at           timestamptz,
  paid_cycles           integer not null default 0,
  paid_amount_cent      bigint not null default 0,
  refund_amount_cent    bigint not null default 0,
  latest_payment_status text,
  agreement_id          bigint,
  shared                boolean not null default false,
  channel_agreement_ref text
);
create index on orders (channel_id, key_of(channel_user_id));
create index on orders (next_due_at) where next_due_at is not null;
create index on orders (agreement_id) where agreement_id is not null and status in ('ACTIVE', 'INITIALIZING');

-- A period has a row from its first attempt or its billing on; those not started are derived from the order.
create table payments (
  order_no           bigint not null,
  cycle_no           integer not null,
  channel_id         bigint not null,
  status             text not null check (status in
    ('PROCESSING', 'SUCCESS', 'FAIL_RETRY', 'FAIL', 'BILLED', 'CANCELED', 'REFUND_PART', 'REFUND_FULL')),
  expect_at          timestamptz not null,
  paid_at            timestamptz,
  amount_cent        bigint not null,
  refund_amount_cent bigint not null default 0,
  refund_at          timestamptz,
  attempts           integer not null default 0,
  primary key (order_no, cycle_no)
);

-- One row per debit that may have been sent. Its three numbers together are the institution's idempotency key.
create table debit_attempts (
  order_no             bigint not null,
  cycle_no             integer not null,
  try_no               integer not null,
  channel_id           bigint not null,
  agreement_id         bigint not null,
  payment_channel_code text not null,
  amount_cent          bigint not null,
  status               text not null default 'STARTED' check (status in ('STARTED', 'SUCCESS', 'FAIL')),
  reason               text,
  institution_ref      text,
  started_at           timestamptz not null,
  settled_at           timestamptz,
  -- Of a STARTED one: when the institution is asked what became of it, and how often it was.
  ask_at               timestamptz,
  asked                integer not null default 0,
  primary key (order_no, cycle_no, try_no)
);
create index on debit_attempts (ask_at) where ask_at is not null;

create table benefits (
  order_no        bigint not null,
  cycle_no        integer not null,
  position        integer not null,
  channel_id      bigint not null,
  benefit_code    text not null,
  name            text not null,
  face_value_cent bigint not null,
  status          text not null default 'ISSUED' check (status in ('ISSUED', 'CLAIMED', 'REVOKED', 'EXPIRED')),
  issued_at       timestamptz not null,
  expires_at      timestamptz not null,
  claim_no        text,
  claimed_at      timestamptz,
  primary key (order_no, cycle_no, position)
);

-- What channels are told, written with what it tells about. `data` is JSON text without mobileEncrypted, which is made
-- when it is sent. An unsubscribe voids any number of periods in one row: `cycle_to` is set, and each period from
-- cycle_no to cycle_to is an event of its own when it is sent, so that 9,999 periods cost what 7 cost.
create table events (
  event_no    bigint generated always as identity primary key,
  channel_id  bigint not null,
  order_no    bigint not null,
  event_type  text not null,
  cycle_no    integer,
  cycle_to    integer,
  occurred_at timestamptz not null,
  data        text not null
);
create index on events (order_no, event_no);

-- What operators must look at: one row per kind and subject, however often it happened.
create table alerts (
  kind            text not null,
  subject         text not null,
  detail          text not null,
  first_seen_at   timestamptz not null default now(),
  last_seen_at    timestamptz not null default now(),
  seen            integer not null default 1,
  acknowledged_by text,
  acknowledged_at timestamptz,
  primary key (kind, subject)
);
