-- The schema of 1.0.0. Databases that the migrations before 1.0.0 have created have the same schema and skip this file.
-- Later changes are migrations of their own (docs/decisions/0026-upgrades.md). Amounts are in cents, times are timestamptz.
-- Tables that every order writes have no foreign keys, because these cost a third of the throughput (0010-subscriptions.md).
-- "Sealed" texts are encrypted under a key of the channel or installation, "wrapped" keys under MASTER_KEY (0004-secrets.md).

-- ---------------------------------------------------------------------------------------------------------------------
-- Installation and keys
-- ---------------------------------------------------------------------------------------------------------------------

create table installation (
  only_row           boolean primary key default true check (only_row),
  environment        text not null check (environment in ('sandbox', 'production')),
  master_key_check   text not null,
  created_at         timestamptz not null default now(),
  -- Server and database as "system identifier/oid". A copy that is restored elsewhere has other values, and debits nothing until an
  -- operator has adopted it (0024-alerts-and-copies.md). Null until the first node has started.
  database_identity  text,
  currency           text,     -- of every amount, fixed by the first start (0015-gateways.md)
  wrapped_master_key text,     -- wrapped by the key service. Null if no key service is used
  cell               smallint not null default 0 -- the number of this database among the cells (0037-cells.md)
);

-- Keys for look-ups across channels.
create table look_up_keys (
  purpose text primary key,
  wrapped text not null
);

-- The last backup that the service knows of, made by its own command or reported by an operator (0023-what-is-seen.md).
create table backups (
  way     text primary key check (way in ('COPY', 'OTHER')),
  made_at timestamptz not null
);

-- The position of each job that moves along time.
create table job_marks (
  job        text primary key,
  reached_at timestamptz not null
);

-- Updates many rows, for migrations: some pages of the table or of each partition at a time, with a commit after each step, so that
-- other sessions wait only for a moment. The row is `t` in `assignments`, `source` and `condition`. The condition must leave out
-- updated rows, so that an interrupted update can be repeated.
create procedure update_in_steps(target regclass, assignments text, source text, condition text)
  language plpgsql as $$
declare
  step constant integer := 250;
  part regclass;
  pages bigint;
begin
  for part in
    select inhrelid from pg_inherits where inhparent = target
    union all select target where not exists (select from pg_partitioned_table where partrelid = target)
  loop
    pages := pg_relation_size(part) / current_setting('block_size')::integer;
    for page in 0 .. pages by step loop
      execute format('update %s t set %s %s where %s and t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)''', part, assignments,
        'from ' || source, condition, page, page + step);
      commit;
    end loop;
  end loop;
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Channels and catalogue
-- ---------------------------------------------------------------------------------------------------------------------

create table channels (
  -- The range of cell 0. `perennial cell init` sets the ranges of other cells, also of the sequences below (0037-cells.md).
  channel_id           bigint generated always as identity (start with 100001 maxvalue 9999999) primary key,
  app_id               text not null unique,
  name                 text not null,
  status               text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED')),
  -- Increases with every change that nodes may have cached. Each request compares it, so a change takes effect immediately.
  version              bigint not null default 1,
  token_epoch          integer not null default 1, -- increases when the valid access tokens must end
  data_key             text not null, -- wrapped. It seals the channel's three secrets and its users' data
  app_secret           text not null,
  aes_key              text not null,
  callback_secret      text not null,
  ip_allow_list        cidr[] not null default '{}',
  rate_per_second      integer not null check (rate_per_second between 1 and 1000000),
  rate_burst           integer not null check (rate_burst >= rate_per_second and rate_burst <= 10000000),
  voided_period_events boolean not null default true,
  created_at           timestamptz not null default now(),
  frame_origins        text[] not null default '{}', -- sites that may embed the redemption page in a frame
  -- The form of encrypted fields in events, and in answers to requests without encrypted fields (0001-wire.md).
  answer_encryption    text not null default 'v1' check (answer_encryption in ('v1', 'v2')),
  accepts_v1           boolean not null default true,
  former_app_secret    text, -- the app secret before the latest roll, accepted until former_secret_until
  former_secret_until  timestamptz,
  upcoming_notice_days integer check (upcoming_notice_days between 1 and 30), -- null: the channel wants no notices
  look_up_key          text -- wrapped: the key of hashes. Null: derived from the data key, which was never replaced
);

-- Data keys that are being replaced (0004-secrets.md). First every node reads the new key beside the current key. Then the new key
-- becomes the channel's data key, and the engine seals the channel's values under it again, in rounds.
create table data_key_rotations (
  channel_id  bigint primary key references channels,
  other_key   text not null, -- wrapped: until the switch the new key, afterwards the former key
  began_at    timestamptz not null default now(),
  switched_at timestamptz,
  -- The last round begins a day after the switch or later. If it finds no value under the former key, that key is deleted.
  is_last     boolean not null default false,
  stage       smallint not null default 0, -- the position of the round: the table, and the last row that was checked
  after_row   text,
  found       boolean not null default false, -- true if the round has found a value under the former key
  not_before  timestamptz not null
);

-- Fields that could not be decrypted, by channel and minute. A limit keeps v1 from giving texts away (0013-personal-data.md).
create table undecryptable_fields (
  channel_id   bigint primary key references channels,
  minute_began timestamptz not null default now(), -- the first failure of the minute
  failures     integer not null default 1
);

create table callback_urls (
  channel_id bigint not null references channels,
  -- '*' is the default for types without a row.
  event_type text not null check (event_type in ('*', 'order.status.changed', 'payment.status.changed', 'payment.upcoming')),
  url        text not null,
  primary key (channel_id, event_type)
);

create table products (
  product_code     text primary key,
  product_name     text not null,
  settlement_modes text[] not null
    check (settlement_modes <@ array['SVC_DEDUCT', 'CHANNEL_COLLECT'] and cardinality(settlement_modes) between 1 and 2),
  period_type      text not null check (period_type in ('DAY', 'MONTH')),
  period           integer not null check (period between 1 and 1200),
  total_cycles     integer not null check (total_cycles between 1 and 9999),
  amount_cent      bigint not null check (amount_cent between 1 and 100000000000),
  retry_delays     integer[] not null, -- seconds after the failed attempt
  created_at       timestamptz not null default now(),
  version          integer not null default 1, -- a later version is a product of its own
  version_of       text references products
);
create unique index products_version on products (version_of, version) where version_of is not null;

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
create index on channel_products (channel_id, authorized_at desc, product_code);

create table payment_channels (
  code               text primary key,
  display_name       text not null,
  gateway            text not null check (gateway in ('sandbox', 'bridge')),
  gateway_url        text,
  supported_banks    text[] not null check (cardinality(supported_banks) > 0),
  bank_code_required boolean not null default false,
  -- The pace of renewals, optional. Hours of the day in Asia/Shanghai, from inclusive, to exclusive.
  debits_per_second  integer check (debits_per_second > 0),
  debit_hour_from    integer check (debit_hour_from between 0 and 23),
  debit_hour_to      integer check (debit_hour_to between 1 and 24),
  created_at         timestamptz not null default now(),
  gateway_key        text, -- wrapped: the signing key of a bridge
  common_numbers     boolean not null default false, -- true if several channels may share one number of the institution
  check ((debit_hour_from is null) = (debit_hour_to is null) and debit_hour_from <> debit_hour_to),
  check ((gateway = 'bridge') = (gateway_url is not null))
);

-- For a payment channel with debits per second: the moment up to which its debits have used the pace. One row for all nodes.
create table debit_paces (
  code       text primary key references payment_channels,
  used_up_to timestamptz not null
);

-- The state of each institution that was called. Every node updates it every few seconds while it calls (0023-what-is-seen.md).
create table institution_health (
  payment_channel_code text primary key,
  answered_at          timestamptz,
  failed_at            timestamptz,
  failing_since        timestamptz, -- the first failed call after the last answer. Null after an answer
  failures             integer not null default 0 -- since then
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
create index on channel_payment_channels (channel_id, authorized_at desc, code);

-- Pictures as they are served, re-encoded from the upload (0032-whose-page.md).
create table images (
  image_hash text primary key check (image_hash ~ '^[0-9a-f]{64}$'), -- the SHA-256 of the bytes, used in addresses
  media_type text not null check (media_type in ('image/svg+xml', 'image/png')),
  bytes      bytea not null check (octet_length(bytes) <= 65536),
  stored_at  timestamptz not null default now()
);

-- How users see a channel. Each null has a default.
create table channel_brandings (
  channel_id   bigint primary key references channels,
  display_name text,
  logo_hash    text references images,
  accent       text check (accent ~ '^[0-9a-f]{6}$'),
  support      text, -- a phone number, an e-mail address or an https address
  terms_url    text,
  shop_url     text
);
create index on channel_brandings (logo_hash) where logo_hash is not null;

-- ---------------------------------------------------------------------------------------------------------------------
-- Users and agreements (0010-subscriptions.md, 0014-bindings.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- Returns the SHA-256 of a name. Names that channels choose may have 1,024 characters, too long for an index entry, so indexes use
-- this key. PostgreSQL inlines the cast of a doubled backslash, but not convert_to(), which is not immutable: that call was a
-- twelfth of the cost of an order (0012-gathered-creates.md). The database must be in UTF8, which the service checks at its start.
create function key_of(name text) returns bytea
  language sql immutable parallel safe strict
  as $$ select sha256(replace(name, E'\\', E'\\\\')::bytea) $$;

-- One mobile number belongs to one user of a channel, and one user has one mobile number. Rows never change.
create table channel_users (
  channel_id      bigint not null,
  channel_user_id text not null,
  mobile_hash     bytea not null,
  mobile          text not null, -- sealed
  bound_at        timestamptz not null default now(),
  constraint channel_users_mobile primary key (channel_id, mobile_hash)
);
create unique index channel_users_by_user on channel_users (key_of(channel_user_id), channel_id);

-- Erased users, each by a hash of the id under the channel's look-up key. The hash cannot be linked to the rows that are kept
-- (0013-personal-data.md).
create table erased_users (
  channel_id bigint not null references channels,
  user_hash  bytea not null,
  erased_at  timestamptz not null default now(),
  primary key (channel_id, user_hash)
);

create sequence agreement_numbers as bigint start with 200000000001 maxvalue 99999999999999;
create table agreements (
  agreement_id         bigint primary key, -- also the bindOrderNo of a binding
  channel_id           bigint not null,
  channel_user_id      text not null,
  payment_channel_code text not null,
  source               text not null check (source in ('SELF_BINDING', 'SHARED_FROM_CHANNEL')),
  status               text not null
    check (status in ('BIND_ING', 'BIND_SUCCESS', 'BIND_FAIL', 'CANCELED', 'REPLACED')),
  agreement_no         text,          -- set once bound
  institution_no       text,          -- sealed: the institution's number of the agreement
  institution_hash     bytea,         -- of institution_no, to find the agreement by an institution's notice
  card_hash            bytea not null,
  certificate_hash     bytea not null,
  card_tail            text not null,
  details              text not null, -- sealed JSON: card, document, name, bank mobile
  bank_code            text,
  code_sent_at         timestamptz,   -- the code of a pending binding
  wrong_codes          integer not null default 0,
  gateway_reference    text,
  -- The cancellation at the institution: the time of the next attempt, and the number of attempts. Null: none is pending.
  cancel_at            timestamptz,
  cancel_tries         integer not null default 0,
  created_at           timestamptz not null default now(),
  changed_at           timestamptz not null default now(),
  -- If a card is bound again, each binding replaces the one before. This is the first binding of that line, and null in the first
  -- itself. So the latest binding is found by its card, however long the line is.
  line_id              bigint,
  -- Of a shared agreement in BIND_SUCCESS: true if its order has ended before its last period. The number then no longer belongs to
  -- the channel. Otherwise a number that somebody shared by mistake would be lost to its owner.
  number_released      boolean not null default false,
  unused_since         timestamptz,   -- when a shared agreement in BIND_SUCCESS was first found without a running order
  data_deleted_at      timestamptz    -- when `details` was masked. Ignored if changed_at is later
);
create index on agreements (cancel_at) where cancel_at is not null;
create unique index agreements_one_per_card
  on agreements (channel_id, key_of(channel_user_id), payment_channel_code, card_hash)
  where status = 'BIND_SUCCESS' and source = 'SELF_BINDING';
-- Finds the agreement that has a number in force, however many ended or failed agreements have the same number.
create index agreements_number
  on agreements (payment_channel_code, institution_hash, status, number_released, channel_id);
-- Lists of a user's agreements, by three ways to ask for them. Agreements that were never bound are not listed.
create index agreements_of_user on agreements
  (key_of(channel_user_id), channel_id, (agreement_no is not null), agreement_id);
create index agreements_card on agreements (channel_id, card_hash, (agreement_no is not null), agreement_id);
create index agreements_certificate on agreements
  (channel_id, certificate_hash, (agreement_no is not null), agreement_id);
-- The operators' search by the last digits of a card.
create index agreements_card_tail on agreements (card_tail, agreement_id) where agreement_no is not null;

-- Returns true if another channel has the number in force: bound, or shared for an order that runs or has run to its end. Two
-- look-ups, because the entries of the channel itself lie between those of other channels. Volatile, so that a caller that has
-- waited for the number's lock sees what was committed meanwhile. A subquery of the caller's statement would not.
create function is_number_of_another_channel(code text, hash bytea, channel bigint) returns boolean
  language plpgsql volatile strict as $$
begin
  return exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.status = 'BIND_SUCCESS' and not a.number_released and a.channel_id < channel)
  or exists (
    select from agreements a where a.payment_channel_code = code and a.institution_hash = hash
      and a.status = 'BIND_SUCCESS' and not a.number_released and a.channel_id > channel);
end $$;

-- Codes sent to a bank mobile, for the limits of production.
create table sms_sends (
  bank_mobile_hash bytea not null,
  sent_at          timestamptz not null default now()
);
create index on sms_sends (bank_mobile_hash, sent_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Orders, periods, debits and refunds (0010-subscriptions.md, 0016-renewals.md, 0017-operators-money.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- paymentOrderNo is orderNo x 10,000 + cycleNo and must stay a 64-bit number. A node takes a block of 1,000 numbers at a time, so it
-- knows the number of an order before it stores the order.
create sequence order_numbers as bigint start with 100000001000 increment by 1000 maxvalue 99999999999000;

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
  cycle_no              integer not null, -- the last period that was started
  next_due_at           timestamptz,      -- the time of the next step. Null: none is due
  paid_cycles           integer not null default 0,
  paid_amount_cent      bigint not null default 0,
  refund_amount_cent    bigint not null default 0,
  latest_payment_status text,
  agreement_id          bigint,
  shared                boolean not null default false,
  channel_agreement_ref text,
  payment_channel_code  text,
  -- The notice days of the channel, and the last period with a notice (0033-notice-before-a-debit.md).
  notice_days           integer,
  noticed_cycle         integer not null default 0,
  -- An order that has ended must never be debited.
  constraint orders_due_while_active check (next_due_at is null or status = 'ACTIVE')
);
create index on orders (agreement_id) where agreement_id is not null and status in ('ACTIVE', 'INITIALIZING');

-- Due orders. Orders of mode B are billed in four lanes by number, one statement per lane at a time, so that no statement looks for
-- rows that another has locked. Orders of mode A are debited by payment channel, because each has its own pace.
create index orders_to_bill on orders ((order_no % 4), next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'CHANNEL_COLLECT';
create index orders_to_debit on orders (payment_channel_code, next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT';
-- Orders of mode A whose next step may need no debit: orders of one period that are complete, and retries that may be too late. They
-- do not wait for the hours or the pace of their payment channel.
create index orders_to_move_without_debit on orders (next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT'
    and (total_cycles = 1 or latest_payment_status = 'FAIL_RETRY');

-- Returns the time of a notice. Subtracts seconds and not days, because the length of a day depends on the time zone, so an index
-- could not use the result.
create function notice_time(due timestamptz, days integer) returns timestamptz
  language sql immutable parallel safe strict
  as $$ select to_timestamp(extract(epoch from due)::double precision - days * 86400) $$;
-- The schedule of notices. Only orders of channels that want notices have an entry.
create index orders_to_notice on orders (notice_time(next_due_at, notice_days), order_no)
  where notice_days is not null and next_due_at is not null and status = 'ACTIVE' and noticed_cycle <= cycle_no
    and cycle_no < total_cycles and latest_payment_status <> 'FAIL_RETRY';

-- Lists of orders that have ended or whose latest period failed. Creations and successful renewals write no entry.
create index orders_ended on orders (status, created_at, order_no)
  where status in ('UNSUBSCRIBED', 'COMPLETED', 'TERMINATED');
create index orders_ended_of_channel on orders (channel_id, status, created_at, order_no)
  where status in ('UNSUBSCRIBED', 'COMPLETED', 'TERMINATED');
create index orders_failed on orders (latest_payment_status, created_at, order_no)
  where latest_payment_status in ('FAIL_RETRY', 'FAIL');
create index orders_failed_of_channel on orders (channel_id, latest_payment_status, created_at, order_no)
  where latest_payment_status in ('FAIL_RETRY', 'FAIL');

-- externalOrderNo is unique among all channels, so it has a table of its own. Lists of orders read this table, because its rows never
-- change: each renewal writes a new version of its row in `orders`, and an index there took a quarter of the time of a renewal.
create table external_orders (
  external_order_no text not null,
  channel_id        bigint not null,
  order_no          bigint not null,
  user_key          bytea not null, -- key_of(channel_user_id)
  created_at        timestamptz,
  single            boolean,        -- true if the order has one period
  product_code      text collate "C", -- compared as bytes, which is the cheapest order for inserts
  constraint external_orders_complete check (created_at is not null and single is not null)
);
create unique index external_orders_number on external_orders (key_of(external_order_no));
create index external_orders_created on external_orders (created_at, order_no);
create index external_orders_of_product on external_orders (product_code, created_at, order_no);
create index external_orders_of_channel on external_orders (channel_id, product_code, created_at, order_no);
create index external_orders_of_user on external_orders (user_key, channel_id, single, created_at, order_no);

-- Fills in product_code if a node stores the row without it. Deferred, because the order may be stored after its number.
create function complete_product() returns trigger
  language plpgsql as $$
begin
  update external_orders e set product_code = o.product_code from orders o
  where o.order_no = new.order_no and key_of(e.external_order_no) = key_of(new.external_order_no);
  return null;
end $$;
create constraint trigger complete_product after insert on external_orders deferrable initially deferred
  for each row when (new.product_code is null) execute function complete_product();

-- Channels whose orders are being given new notice days. The job goes through the orders twice, because an order may be stored with
-- the former days during the first round.
create table notice_alignments (
  channel_id       bigint primary key references channels,
  rounds_left      integer not null default 2,
  not_before       timestamptz not null default now(),
  after_product    text, -- the position, in the order of external_orders_of_channel
  after_created_at timestamptz,
  after_order_no   bigint
);

-- A period has a row from its first attempt or its billing on. Later periods are derived from the order.
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
-- Rows are paid in the order of time, so a block range index finds a day or a month and costs next to nothing.
create index on payments using brin (paid_at) with (pages_per_range = 32);

-- One row for each debit that may have been sent. Its three numbers together are the institution's idempotency key.
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
  -- Of a STARTED debit: when the institution is asked for the result, and how often it was asked.
  ask_at               timestamptz,
  asked                integer not null default 0,
  paid_at              timestamptz, -- the institution's time, which its statements use
  -- True if the agreement was replaced with retryFailedNow false during the debit: if it fails, its period waits for the product's
  -- delay. Null: the period is then due immediately.
  retry_by_schedule    boolean,
  primary key (order_no, cycle_no, try_no)
);
create index on debit_attempts (ask_at) where ask_at is not null;
create index on debit_attempts using brin (paid_at) with (pages_per_range = 32);
-- The debits in flight on an agreement.
create index debit_attempts_started on debit_attempts (agreement_id) where status = 'STARTED';
-- The figures of an hour.
create index debit_attempts_settled on debit_attempts using brin (settled_at)
  with (pages_per_range = 32, autosummarize = on);
-- Debits that a retry has saved.
create index debit_attempts_recovered on debit_attempts (settled_at, order_no, cycle_no)
  include (try_no, amount_cent, channel_id, payment_channel_code) where status = 'SUCCESS' and try_no > 1;

-- Periods whose latest debit failed, with the columns of their lists. A period that is paid by its first debit never has a row.
create table failed_payments (
  order_no             bigint not null,
  cycle_no             integer not null,
  channel_id           bigint not null,
  product_code         text collate "C" not null,
  payment_channel_code text not null,
  status               text not null,
  amount_cent          bigint not null,
  tries                integer not null,
  reason               text,
  failed_at            timestamptz not null,
  primary key (order_no, cycle_no)
);
create index failed_payments_at on failed_payments (failed_at, order_no, cycle_no);
create index failed_payments_of_channel on failed_payments (channel_id, failed_at, order_no, cycle_no);
create index failed_payments_of_product on failed_payments (product_code, failed_at, order_no, cycle_no);
-- A reason may be too long for an index entry.
create index failed_payments_because on failed_payments (left(reason, 100), failed_at, order_no, cycle_no);

-- Runs at the commit, when the attempt and its period agree.
create function keep_failed_payment() returns trigger
  language plpgsql as $$
begin
  if new.status in ('FAIL_RETRY', 'FAIL') then
    insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent, tries,
      reason, failed_at)
    select new.order_no, new.cycle_no, new.channel_id, o.product_code, d.payment_channel_code, new.status, new.amount_cent,
      new.attempts, d.reason, d.settled_at
    from debit_attempts d, orders o
    where d.order_no = new.order_no and d.cycle_no = new.cycle_no and d.try_no = new.attempts and d.status = 'FAIL'
      and o.order_no = new.order_no
    on conflict (order_no, cycle_no) do update set status = excluded.status, tries = excluded.tries, reason = excluded.reason,
      payment_channel_code = excluded.payment_channel_code, failed_at = excluded.failed_at;
  else
    delete from failed_payments f where f.order_no = new.order_no and f.cycle_no = new.cycle_no;
  end if;
  return null;
end $$;
create constraint trigger keep_failed_payment after update on payments deferrable initially deferred for each row
  when (old.status in ('FAIL_RETRY', 'FAIL') or new.status in ('FAIL_RETRY', 'FAIL')) execute function keep_failed_payment();

-- A refund is stored before the institution is asked for it, like a debit. Its number is the period's number followed by two digits,
-- and may be requested repeatedly.
create table refunds (
  order_no             bigint not null,
  cycle_no             integer not null,
  refund_seq           integer not null check (refund_seq between 1 and 99),
  try_no               integer not null, -- the attempt that took the money
  channel_id           bigint not null,
  payment_channel_code text not null,
  amount_cent          bigint not null check (amount_cent > 0),
  status               text not null default 'STARTED' check (status in ('STARTED', 'SUCCESS', 'FAIL')),
  reason               text,        -- why the institution refused
  request_key          text,        -- the operator's idempotency key
  requested_by         text not null,
  note                 text,
  started_at           timestamptz not null,
  refunded_at          timestamptz, -- the institution's time
  settled_at           timestamptz,
  ask_at               timestamptz,
  asked                integer not null default 0,
  approval_id          bigint,      -- null: the refund needed no approval
  primary key (order_no, cycle_no, refund_seq)
);
create unique index refunds_request on refunds (order_no, cycle_no, request_key) where request_key is not null;
create index on refunds (ask_at) where ask_at is not null;
create index on refunds using brin (refunded_at) with (pages_per_range = 8);
create index refunds_settled on refunds (settled_at) where settled_at is not null;
create index refunds_alone on refunds (requested_by, started_at) where approval_id is null;

-- Time travel in the sandbox: the advance that holds an order, until its lease ends (0020-time-travel.md).
create table order_journeys (
  order_no    bigint primary key,
  journey_id  uuid not null,
  lease_until timestamptz not null
);

-- The comparison of an institution's statement of one day with this database (0018-reconciliation.md).
create table reconciliations (
  payment_channel_code text not null,
  day                  date not null,
  source               text not null check (source in ('GATEWAY', 'FILE')),
  lines                bigint not null,
  differences          integer not null,
  run_by               text not null,
  run_at               timestamptz not null default now(),
  primary key (payment_channel_code, day)
);

create table reconciliation_differences (
  difference_no        bigint generated always as identity primary key,
  payment_channel_code text not null,
  day                  date not null,
  kind                 text not null check (kind in ('MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'STATE', 'DUPLICATE')),
  line_kind            text not null check (line_kind in ('debit', 'refund')),
  number               text not null, -- attemptNo or refundNo
  here_amount_cent     bigint,
  here_status          text,
  there_amount_cent    bigint,
  there_status         text,
  first_seen_at        timestamptz not null default now(),
  last_seen_at         timestamptz not null default now(),
  closed_by            text,
  closed_at            timestamptz,
  closing_note         text,
  owner                text,
  constraint reconciliation_differences_once unique (payment_channel_code, day, kind, line_kind, number)
);
create index on reconciliation_differences (day) where closed_at is null;

-- ---------------------------------------------------------------------------------------------------------------------
-- Benefits and codes (0022-redemption.md)
-- ---------------------------------------------------------------------------------------------------------------------

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

-- How users see a benefit.
create table benefit_presentations (
  benefit_code   text primary key,
  icon_hash      text references images,
  description_zh text,
  description_en text,
  use_url        text -- where its code is used
);
create index on benefit_presentations (icon_hash) where icon_hash is not null;

-- The source of the codes of a benefit. GENERATED if there is no row.
create table benefit_fulfilments (
  benefit_code text primary key,
  kind         text not null check (kind in ('GENERATED', 'POOL', 'SUPPLIER')),
  -- Kept when the kind changes, because claims may still wait for the supplier.
  supplier_url text,
  supplier_key text, -- wrapped
  set_at       timestamptz not null default now(),
  low_stock    integer check (low_stock > 0), -- fewer codes in the pool raise an alert
  check ((supplier_url is null) = (supplier_key is null)),
  check (kind <> 'SUPPLIER' or supplier_url is not null)
);

-- A benefit that a user has claimed. The same transaction sets the benefit to CLAIMED; the code may come later. The claim keeps its
-- kind of fulfilment when the setting of the benefit changes.
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
  -- Of a claim that waits for its supplier: when the supplier is asked next, and how often it was asked.
  ask_at       timestamptz,
  asked        integer not null default 0,
  primary key (order_no, cycle_no, position),
  check ((status = 'FULFILLED') = (code is not null)),
  check (ask_at is null or (status = 'PENDING' and fulfilment = 'SUPPLIER'))
);
create index claims_to_ask on claims (benefit_code, ask_at) where ask_at is not null;
create index claims_waiting on claims (benefit_code, claimed_at) where status = 'PENDING' and fulfilment = 'POOL';
create index claims_claimed on claims using brin (claimed_at) with (pages_per_range = 32, autosummarize = on);

-- Codes that were bought beforehand. A code that was given away keeps its row, so that it is never imported and given away again.
create table pool_codes (
  benefit_code text not null,
  code_hash    bytea not null,
  code         text, -- sealed. Null once it was given away
  imported_at  timestamptz not null default now(),
  position     bigint generated always as identity,
  given_to     text, -- the number of the claim
  primary key (benefit_code, code_hash)
);
create index pool_codes_left on pool_codes (benefit_code, position) where given_to is null;

-- Wrong digits that were entered to unsubscribe. All links of a user count together.
create table unsubscribe_tries (
  channel_id   bigint not null,
  user_key     bytea not null,
  wrong        smallint not null,
  locked_until timestamptz,
  primary key (channel_id, user_key)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Events and delivery (0021-webhooks.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- Events that channels receive, stored in the transaction of the change. In partitions of a week, so that old events are deleted by a
-- drop. A row without a partition goes to the default partition, so that no event is refused.
create sequence event_numbers as bigint maxvalue 99999999999999;
create table events (
  event_no    bigint not null default nextval('event_numbers'),
  channel_id  bigint not null,
  order_no    bigint not null,
  event_type  text not null,
  -- An unsubscribe voids all later periods in one row: the periods from cycle_no to cycle_to, each a separate event when it is sent.
  -- So 9,999 periods cost as much as 7.
  cycle_no    integer,
  cycle_to    integer,
  occurred_at timestamptz not null,
  data        text not null, -- JSON without mobileEncrypted, which is added when the event is sent
  -- The time of the insert, not of the transaction's begin: an event that waited for a lock comes after the event before it.
  recorded_at timestamptz not null default clock_timestamp()
) partition by range (recorded_at);
alter sequence event_numbers owned by events.event_no;
create table events_default partition of events default;
-- Channel, kind, time and number are the key of events in all four tables. So each status is listed by time from its own table.
create unique index events_number on events (event_no, recorded_at);
create index events_listed on events
  (channel_id, (event_type = 'payment.status.changed'), recorded_at, event_no);
create index events_of_order on events (order_no, recorded_at, event_no);
create index events_notices on events (channel_id, recorded_at, event_no) where event_type = 'payment.upcoming';

-- Events that are to be sent. Narrow, short-lived rows, read by the node that holds their shard. All events of a channel have the
-- same shard. A range of voided periods is one row (cycle_to) until its turn, and then one row for each period (cycle_no).
create table due_events (
  shard       smallint not null,
  next_at     timestamptz not null,
  event_no    bigint not null,
  cycle_no    integer not null default 0,
  channel_id  bigint not null,
  order_no    bigint not null,
  is_payment  boolean not null, -- payment.status.changed
  cycle_to    integer,
  recorded_at timestamptz not null,
  step        smallint not null default 0, -- of the retry schedule
  retry_no    smallint not null default 0, -- as the channel sees it
  is_notice   boolean not null default false, -- payment.upcoming
  primary key (shard, next_at, event_no, cycle_no)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.5);
create index due_events_listed on due_events (channel_id, is_payment, recorded_at, event_no);

-- Events that are no longer sent: given up, or without an address. A replay queues them again.
create table undelivered_events (
  channel_id  bigint not null,
  event_no    bigint not null,
  cycle_no    integer not null,
  cycle_to    integer,
  order_no    bigint not null,
  is_payment  boolean not null,
  recorded_at timestamptz not null,
  retry_no    smallint not null,
  reason      text not null check (reason in ('GIVE_UP', 'NO_CALLBACK')),
  since       timestamptz not null default now(),
  is_notice   boolean not null default false,
  primary key (channel_id, event_no, cycle_no)
);
create index on undelivered_events (recorded_at);
create index undelivered_events_listed on undelivered_events
  (channel_id, reason, is_payment, recorded_at, event_no);

-- Queues every stored event, or puts it aside if its channel has no address for its type.
create function queue_events() returns trigger
  language plpgsql as $$
begin
  with judged as materialized (
    select channel_id, event_no, case when cycle_to is null then 0 else cycle_no end as cycle_no, cycle_to, order_no,
      event_type = 'payment.status.changed' as is_payment, event_type = 'payment.upcoming' as is_notice, recorded_at,
      exists (select from callback_urls u where u.channel_id = w.channel_id and u.event_type in ('*', w.event_type)) as has_address
    from written w
  ), put_aside as (
    insert into undelivered_events (channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at, retry_no,
      reason)
    select channel_id, event_no, cycle_no, cycle_to, order_no, is_payment, is_notice, recorded_at, 0, 'NO_CALLBACK'
    from judged where not has_address
  )
  insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to, recorded_at)
  select channel_id % 16, recorded_at, event_no, cycle_no, channel_id, order_no, is_payment, is_notice, cycle_to, recorded_at
  from judged where has_address;
  return null;
end $$;
create trigger queue_events after insert on events referencing new table as written
  for each statement execute function queue_events();

-- The node that sends the events of a shard. The epoch increases with each change of owner and fences writes of the former owner. The
-- lease belongs to the node, so that renewing it does not touch shards, whose rows are locked to record pushes.
create table delivery_nodes (
  node        uuid primary key,
  lease_until timestamptz not null
);
create table delivery_shards (
  shard smallint primary key,
  owner uuid,
  epoch bigint not null default 0
);
insert into delivery_shards (shard) select generate_series(0, 15);

-- Every push and its result, in weeks like the events. The table with the most rows, so its columns are in the most compact order.
create type delivery_outcome as enum ('ACCEPTED', 'REFUSED', 'TIMEOUT', 'UNREACHABLE', 'FORBIDDEN');
create table delivery_attempts (
  channel_id  bigint not null,
  event_no    bigint not null,
  at          timestamptz not null,
  cycle_no    integer not null,
  outcome     delivery_outcome not null,
  retry_no    smallint not null,
  http_status smallint, -- null: there was no answer
  latency_ms  smallint not null,
  answer      text,     -- its first bytes, or the reason why there was none
  recorded_at timestamptz, -- of the event
  is_payment  boolean,
  is_notice   boolean not null default false,
  constraint delivery_attempts_complete check (recorded_at is not null and is_payment is not null)
) partition by range (at);
create table delivery_attempts_default partition of delivery_attempts default;
-- Accepted pushes are listed and are the most. Other pushes are only looked up. Each push is in one of the two indexes.
create index delivery_attempts_accepted on delivery_attempts (channel_id, is_payment, recorded_at, event_no)
  where outcome = 'ACCEPTED';
create index delivery_attempts_failed on delivery_attempts (event_no) where outcome <> 'ACCEPTED';
create index delivery_attempts_of_notices on delivery_attempts (channel_id, recorded_at, event_no)
  where outcome = 'ACCEPTED' and is_notice;
create index delivery_attempts_pushed on delivery_attempts using brin (at)
  with (pages_per_range = 32, autosummarize = on);

-- Deliveries that an operator has paused: of one event type, or of all ('*').
create table delivery_pauses (
  channel_id bigint not null references channels,
  event_type text not null check (event_type in ('*', 'order.status.changed', 'payment.status.changed', 'payment.upcoming')),
  paused_by  text not null,
  paused_at  timestamptz not null default now(),
  primary key (channel_id, event_type)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests: idempotency, nonces, limits and their log (0003-idempotency.md)
-- ---------------------------------------------------------------------------------------------------------------------

create table idempotency (
  channel_id  bigint not null,
  key         text not null,
  path        text not null,
  body_sha256 bytea not null,
  -- DESCRIBED: the answer is stored as the values it is made of, without the text of thousands of periods and without signed links.
  state       text not null check (state in ('RUNNING', 'DONE', 'DESCRIBED')),
  -- Of a RUNNING request, whose first step is committed: the owner, its lease, and the row that it works on.
  owner       uuid,
  lease_until timestamptz,
  subject     text,
  -- The answer.
  code        text,
  message     text,
  data        text,
  created_at  timestamptz not null default now(),
  primary key (channel_id, key)
) with (toast_tuple_target = 8160);
alter table idempotency alter column data set storage main;
create index on idempotency using brin (created_at);

-- A ring of partitions by the request's signed timestamp, in steps of ten minutes. At any moment three are in use and the fourth can
-- be truncated. So expiry needs neither deletes nor vacuum nor DDL.
create table nonces (
  slot       smallint not null,
  channel_id bigint not null,
  nonce      bytea not null,
  seen_at    timestamptz not null,
  -- The slot comes last, because a nonce is also looked up in the other slots: an empty or never analyzed slot must not be scanned.
  -- Measured with 200,000 nonces: 2 to 5 ms a statement, instead of 94 ms with the slot first.
  primary key (channel_id, nonce, slot)
) partition by list (slot);
create table nonces_0 partition of nonces for values in (0);
create table nonces_1 partition of nonces for values in (1);
create table nonces_2 partition of nonces for values in (2);
create table nonces_3 partition of nonces for values in (3);

-- One token bucket per channel, on the database's clock. `granted` is the result of the last update.
create table rate_limits (
  channel_id  bigint primary key,
  tokens      double precision not null,
  refilled_at timestamptz not null default now(),
  granted     integer not null default 0
) with (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The requests of channels in the last days, without bodies.
create table request_log (
  at          timestamptz not null,
  channel_id  bigint not null,
  endpoint    text not null,
  code        text not null,
  http_status smallint not null,
  duration_ms integer not null,
  request_id  text not null,
  reason      text,
  address     text not null
) partition by range (at);
create index on request_log (channel_id, at);
-- Refused requests: few, and the ones that operators ask for.
create index on request_log (channel_id, at) where code <> '0';
-- One request by its id. A b-tree of random texts would be the most expensive index of all. This index has a Bloom filter for every 32
-- pages, which is computed once the pages are full.
create index on request_log using brin (request_id text_bloom_ops (n_distinct_per_range = 2500)) with
  (pages_per_range = 32, autosummarize = on);
create table request_log_default partition of request_log default;

-- Removes the first range from the block range indexes of a new partition. Otherwise its filter would be written again for each of the
-- first 2,000 requests, 2,250 bytes of WAL each (0012-gathered-creates.md). Those pages are scanned until they are full.
create function leave_first_range_open(of_table regclass) returns void
  language sql as $$
  select brin_desummarize_range(i.indexrelid, 0)
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
  where i.indrelid = of_table and m.amname = 'brin'
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Functions with the rights of the owner of the tables (0028-database-connection.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- A node's role may not change the schema. These functions create and drop partitions by time, and lock sequences, for the node. Each
-- accepts only the tables that it knows. Weeks begin on Monday in Asia/Shanghai, whatever the time zone of the session is.

-- Returns the length of a partition. Fails for tables that have no partitions by time.
create function partition_step(parent text) returns text
  language plpgsql immutable as $$
begin
  case parent
    when 'events', 'delivery_attempts' then return 'week';
    when 'request_log' then return 'day';
  end case;
end $$;

-- Returns the name of the partition that begins on this day.
create function partition_name(parent text, first_day timestamp) returns text
  language sql stable as $$ select parent || '_' || to_char(first_day, 'YYYYMMDD') $$;

-- Creates the missing partitions: the current one, and some ahead. Returns their number.
create function make_partitions(parent text, ahead integer) returns integer
  language plpgsql as $$
declare
  step constant text := partition_step(parent);
  length constant interval := ('1 ' || step)::interval;
  first_day timestamp := date_trunc(step, now() at time zone 'Asia/Shanghai');
  made integer := 0;
begin
  if ahead not between 0 and 10 then
    raise exception 'at most 10 partitions are made ahead, not %', ahead;
  end if;
  for n in 0 .. ahead loop
    if to_regclass(partition_name(parent, first_day)) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)', partition_name(parent, first_day), parent,
        first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai');
      if step = 'day' then
        perform leave_first_range_open(to_regclass(partition_name(parent, first_day)));
      end if;
      made := made + 1;
    end if;
    first_day := first_day + length;
  end loop;
  return made;
end $$;

-- For nodes of earlier versions.
create function make_weeks(parent text, ahead integer) returns integer
  language sql as $$ select make_partitions(parent, ahead) $$;
create function make_days(parent text, ahead integer) returns integer
  language sql as $$ select make_partitions(parent, ahead) $$;

-- Returns the oldest partition that began before the retention, to the week or day. Null: none did.
create function old_partition(parent text, retention_days integer) returns regclass
  language sql stable as $$
  select c.oid::regclass from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = parent::regclass and c.relname ~ ('^' || parent || '_[0-9]{8}$')
    and to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'Asia/Shanghai'
      < date_trunc(partition_step(parent), now() - retention_days * interval '24 hours', 'Asia/Shanghai')
  order by c.relname limit 1
$$;

-- Drops that partition, but never a partition of the last seven days. Returns 1, or 0 if there is none.
create function drop_old_partition(parent text, retention_days integer) returns integer
  language plpgsql as $$
declare
  old constant regclass := old_partition(parent, greatest(retention_days, 7));
begin
  perform partition_step(parent);
  if old is null then
    return 0;
  end if;
  execute format('drop table %s', old);
  return 1;
end $$;

-- Empties the default partition, because a new partition cannot be created while the default partition contains rows that belong to
-- it. Moves up to 10,000 rows into new partitions. If there are more, the default partition itself becomes the partition of all their
-- weeks or days where that is possible, because every writer would wait for the move. Returns the number of rows.
create function gather_strays(parent text) returns integer
  language plpgsql as $$
declare
  step constant text := partition_step(parent);
  length constant interval := ('1 ' || step)::interval;
  time_column constant text := case parent when 'events' then 'recorded_at' else 'at' end;
  strays constant text := parent || '_default';
  total integer;
  first_days timestamp[];
  first_day timestamp;
  last_day timestamp;
begin
  execute format($query$
    select sum(rows), array_agg(first_day order by first_day) from (
      select date_trunc(%L, %I at time zone 'Asia/Shanghai') as first_day, count(*) as rows from %I group by 1) spans $query$,
    step, time_column, strays) into total, first_days;
  if total is null then
    return 0;
  end if;
  last_day := first_days[cardinality(first_days)];
  if total > 10000 and last_day at time zone 'Asia/Shanghai' <= now() and not exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass
      and c.relname between partition_name(parent, first_days[1]) and partition_name(parent, last_day))
  then
    -- Named after its last week or day, so that it is dropped as late as the partition of that.
    execute format('alter table %I detach partition %I', parent, strays);
    execute format('alter table %I rename to %I', strays, partition_name(parent, last_day));
    execute format('create table %I partition of %I default', strays, parent);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition_name(parent, last_day),
      first_days[1] at time zone 'Asia/Shanghai', (last_day + length) at time zone 'Asia/Shanghai');
    return total;
  end if;
  foreach first_day in array first_days loop
    execute format('create table %I (like %I including all)', partition_name(parent, first_day), parent);
    execute format('with moved as (delete from %I where %I >= $1 and %I < $2 returning *) insert into %I select * from moved',
        strays, time_column, time_column, partition_name(parent, first_day))
      using first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai';
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition_name(parent, first_day),
      first_day at time zone 'Asia/Shanghai', (first_day + length) at time zone 'Asia/Shanghai');
  end loop;
  return total;
end $$;

-- Locks a sequence of this schema, so that no session reads it or takes numbers. Sets the owner to the current owner, which changes
-- nothing. Other DDL would give the sequence a new file, and waiting readers would fail (XX001).
create function lock_sequence(name text) returns void
  language plpgsql as $$
begin
  execute format('alter sequence %I owner to %I', name,
    (select pg_get_userbyid(relowner) from pg_class where oid = quote_ident(name)::regclass));
end $$;

-- The search path is fixed, so that a caller's own tables cannot take the place of the tables of the schema.
do $$
declare
  act regprocedure;
begin
  foreach act in array array['make_partitions(text, integer)', 'drop_old_partition(text, integer)', 'gather_strays(text)',
    'lock_sequence(text)']::regprocedure[]
  loop
    execute format('alter function %s security definer set search_path = %I, pg_temp', act, current_schema());
    execute format('revoke execute on function %s from public', act);
  end loop;
end $$;

select make_partitions('events', 4), make_partitions('delivery_attempts', 4), make_partitions('request_log', 3);

-- ---------------------------------------------------------------------------------------------------------------------
-- Console, operators and audit log (0030-console.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- Operators, who sign in by a password or by single sign-on.
create table people (
  person_id        bigint generated always as identity primary key,
  name             text not null,
  role             text not null check (role in ('viewer', 'support', 'finance', 'admin')),
  status           text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  password_hash    text,         -- null: none is set yet, or only single sign-on
  totp_secret      text,         -- sealed. Null: not set up
  totp_pending     text,         -- sealed. Becomes totp_secret with the first correct code
  totp_step        bigint not null default 0, -- of the last accepted code: no code is accepted twice
  single_sign_on   text unique,  -- issuer and subject
  setup_hash       bytea unique, -- of the token in the one-time link
  setup_until      timestamptz,
  last_sign_in_at  timestamptz,
  created_by       text not null,
  created_at       timestamptz not null default now(),
  former_passwords text[] not null default '{}' -- the hashes of the last five passwords before the current one, latest first
);
create unique index people_name on people (lower(name));

create function keep_former_password() returns trigger
  language plpgsql as $$
begin
  new.former_passwords := (array[old.password_hash] || old.former_passwords)[1:5];
  return new;
end $$;
create trigger keep_former_password before update of password_hash on people for each row
  when (old.password_hash is not null and old.password_hash is distinct from new.password_hash)
  execute function keep_former_password();

create table console_sessions (
  session_id        uuid primary key default gen_random_uuid(),
  token_hash        bytea not null unique,
  person_id         bigint not null references people,
  address           text not null,
  user_agent        text not null,
  created_at        timestamptz not null default now(),
  last_seen_at      timestamptz not null default now(),
  proven_at         timestamptz not null default now(), -- when the operator last confirmed their identity
  expires_at        timestamptz not null,
  by_single_sign_on boolean not null default false -- true: the session needs no code of this service
);
create index on console_sessions (person_id);
create index on console_sessions (expires_at);

-- Failed proofs of identity, by the given name (even if no account has it), by the address, and for signed-in operators by session.
create table sign_in_failures (
  key          text primary key, -- `name …`, `address …` or `session …`
  failures     integer not null default 1,
  began_at     timestamptz not null default now(),
  locked_until timestamptz
);
create index on sign_in_failures (began_at);

-- Failed sign-ins by minute. The engine moves them to the audit log when the minute is over.
create table sign_in_traces (
  minute   timestamptz not null,
  name     text not null, -- empty if no account has the name, because it may be a password in the wrong field
  address  text not null, -- name and address are empty for failures beyond the first 20 pairs of the minute
  failures integer not null default 1,
  primary key (minute, name, address)
);

-- Pending sign-ins by single sign-on.
create table single_sign_on_tries (
  state_hash bytea primary key,
  nonce      text not null,
  verifier   text not null, -- sealed
  return_to  text not null,
  began_at   timestamptz not null default now(),
  is_proof   boolean not null default false, -- the provider must authenticate the operator again
  replaces   bytea -- the hash of the token of the session that this sign-in replaces
);

-- Actions that a second operator must approve.
create table approvals (
  approval_id   bigint generated always as identity primary key,
  kind          text not null,
  -- FAILED: it was approved, but could not be carried out.
  status        text not null default 'WAITING'
    check (status in ('WAITING', 'APPROVED', 'DECLINED', 'WITHDRAWN', 'FAILED')),
  subject       text not null, -- `orderNo-cycleNo`, or the number of a bulk run
  request_key   text not null,
  amount_cent   bigint not null,
  note          text not null,
  requested_by  text not null,
  requested_at  timestamptz not null default now(),
  decided_by    text,
  decided_at    timestamptz,
  decision_note text,
  result        text,
  refusal       jsonb,       -- the refusal if the result is one, for pages in other languages
  seen_at       timestamptz, -- when the requester has acknowledged a refusal or failure
  change        jsonb,       -- of a CHANGE: the operation, its input without secrets, and the audit entries of a trial run
  done_at       timestamptz,
  -- Only the requester withdraws a request, and decides nothing else.
  check (decided_by is null or (decided_by = requested_by) = (status = 'WITHDRAWN')),
  -- An approved CHANGE has a result, which keeps nodes that cannot carry it out from approving it.
  constraint approvals_kind_check check (kind in ('REFUND', 'BULK')
    or kind = 'CHANGE' and change is not null and (status <> 'APPROVED' or result is not null))
);
create unique index approvals_request on approvals (kind, subject, request_key);
create index approvals_waiting on approvals (approval_id) where status = 'WAITING';
create index approvals_unfinished on approvals (approval_id) where status = 'APPROVED' and result is null;
create index approvals_unseen on approvals (requested_by, approval_id) where status in ('DECLINED', 'FAILED') and seen_at is null;
create index approvals_to_carry_out on approvals (requested_by, approval_id)
  where kind = 'CHANGE' and status = 'APPROVED' and done_at is null;

create table order_notes (
  note_id  bigint generated always as identity primary key,
  order_no bigint not null,
  author   text not null,
  at       timestamptz not null default now(),
  text     text not null
);
create index on order_notes (order_no, note_id);
create index order_notes_at on order_notes (at);

-- The audit log is a chain: each entry includes the hash of the entry before.
create table audit_log (
  audit_id bigint generated always as identity primary key,
  at       timestamptz not null default now(),
  actor    text not null,
  action   text not null,
  subject  text not null,
  detail   jsonb not null,
  address  text,
  chain_no bigint,
  chain    bytea
);
create index on audit_log (subject, audit_id);
create index audit_log_chain on audit_log (chain_no);
create index audit_log_actor on audit_log (actor, audit_id);
create index audit_log_action on audit_log (action, audit_id);

create table audit_head (
  only_row boolean primary key default true check (only_row),
  chain_no bigint not null,
  chain    bytea not null
);
insert into audit_head (chain_no, chain) values (0, '');

create function audit_link(before bytea, no bigint, audit_id bigint, at timestamptz, actor text, address text, action text,
    subject text, detail jsonb) returns bytea
  language sql immutable parallel safe
  as $$ select sha256(before || convert_to(json_build_array(no, audit_id, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    actor, address, action, subject, detail)::text, 'UTF8')) $$;

-- Links a new entry to the last. Each writer waits for the transaction of the entry before.
create function link_audit_entry() returns trigger
  language plpgsql as $$
declare
  head audit_head;
begin
  select * into strict head from audit_head for update;
  -- The console says in each of its transactions where the person is.
  new.address := coalesce(new.address, nullif(current_setting('perennial.address', true), ''));
  new.chain_no := head.chain_no + 1;
  new.chain := audit_link(head.chain, new.chain_no, new.audit_id, new.at, new.actor, new.address, new.action, new.subject,
    new.detail);
  update audit_head set chain_no = new.chain_no, chain = new.chain;
  return new;
end $$;
create trigger link_audit_entry before insert on audit_log for each row execute function link_audit_entry();

-- Seals of the audit log: a MAC over the number and hash of an entry.
create table audit_seals (
  chain_no bigint primary key,
  seal     bytea not null
);

-- The position up to which the log was verified.
create table audit_checkpoint (
  only_row     boolean primary key default true check (only_row),
  chain_no     bigint not null,
  chain        bytea not null,
  sealed_from  bigint,      -- the first sealed entry
  scheduled_at timestamptz, -- when a node last verified the log on its schedule
  whole_at     timestamptz, -- when the log was last verified from its first entry
  seal         bytea not null
);

-- Free texts of audit entries. The chained entry has `textsHash`, the SHA-256 of salt and texts. So a verification accepts a deleted
-- row, but not a changed one (0013-personal-data.md).
create table audit_texts (
  audit_id bigint primary key,
  at       timestamptz not null default now(),
  salt     bytea not null,
  texts    text not null -- a JSON object
);
create index on audit_texts (at);

-- Returns the detail of an entry together with its texts.
create function audit_detail(entry audit_log) returns jsonb
  language sql stable parallel safe
  as $$ select coalesce((select entry.detail - 'textsHash' || t.texts::jsonb from audit_texts t where t.audit_id = entry.audit_id),
    entry.detail) $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Alerts (0024-alerts-and-copies.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- One row for each kind and subject, however often the alert was raised.
create table alerts (
  kind             text not null,
  subject          text not null,
  detail           text not null,
  first_seen_at    timestamptz not null default now(),
  last_seen_at     timestamptz not null default now(),
  seen             integer not null default 1, -- how often it was raised
  acknowledged_by  text,
  acknowledged_at  timestamptz,
  resolved_at      timestamptz,
  resolved_because text,
  to_tell          text default 'OPEN' check (to_tell in ('OPEN', 'RESOLVED')), -- the message that is still to be queued
  told_at          timestamptz, -- when the alert was reported as open. Null once its end was reported
  logged           integer not null default 0, -- the value of `seen` when the alert was last logged
  owner            text,
  primary key (kind, subject)
);
create index alerts_to_tell on alerts (kind) where to_tell is not null;
create index alerts_unresolved on alerts (kind) where resolved_at is null;
create index alerts_open on alerts (kind) where acknowledged_at is null;
create index alerts_to_log on alerts (last_seen_at) where logged < seen;
create index alerts_listed on alerts (last_seen_at, kind, subject);
-- The alerts of an order: their subjects begin with its number.
create index alerts_about on alerts (subject collate "C");

create table alert_comments (
  comment_id bigint generated always as identity primary key,
  kind       text not null,
  subject    text not null,
  author     text not null,
  at         timestamptz not null default now(),
  text       text not null
);
create index on alert_comments (kind, subject, comment_id);
create index alert_comments_at on alert_comments (at);

-- Messages to operators. A row is written in the transaction that marks its alerts as reported, and stays due until the receiver has
-- accepted it.
create table alert_messages (
  message_id bigint generated always as identity primary key,
  way        text not null check (way in ('WEBHOOK', 'EMAIL')),
  what       text not null check (what in ('OPEN', 'STILL_OPEN', 'RESOLVED')),
  kind       text not null,
  content    jsonb not null,
  written_at timestamptz not null default now(),
  send_at    timestamptz default now(), -- null once it was accepted
  tries      integer not null default 0,
  failure    text,                      -- of the last attempt
  sent_at    timestamptz
);
create index alert_messages_due on alert_messages (way, send_at) where send_at is not null;
create index alert_messages_written on alert_messages (kind, what, written_at);
create index on alert_messages using brin (written_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Bulk runs, closed months and figures (0030-console.md)
-- ---------------------------------------------------------------------------------------------------------------------

-- One operation on many subjects.
create table bulk_runs (
  run_id       bigint generated always as identity primary key,
  kind         text not null check (kind in ('RETRY', 'REFUND', 'UNSUBSCRIBE', 'REPLAY')),
  -- PENDING: the run waits only for items that were sent and have no final result.
  status       text not null default 'PREPARED'
    check (status in ('PREPARED', 'WAITING', 'RUNNING', 'PENDING', 'DONE', 'CANCELED', 'DECLINED')),
  request_key  text not null,
  filter       jsonb not null,
  reason       text not null,
  items        integer not null default 0,
  amount_cent  bigint not null default 0,
  done         integer not null default 0,
  failed       integer not null default 0,
  skipped      integer not null default 0,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  started_at   timestamptz,
  finished_at  timestamptz,
  lease_until  timestamptz -- of the node that works on the run. If the node dies, another continues
);
create unique index bulk_runs_request on bulk_runs (requested_by, request_key);
create index bulk_runs_running on bulk_runs (run_id) where status = 'RUNNING';
create index bulk_runs_refunding on bulk_runs (run_id) where kind = 'REFUND' and status in ('WAITING', 'RUNNING');
create index bulk_runs_pending on bulk_runs (run_id) where status = 'PENDING';

create table bulk_items (
  run_id      bigint not null references bulk_runs,
  item_no     integer not null,
  subject     text not null,
  order_no    bigint,
  amount_cent bigint not null default 0,
  -- PENDING: the item was sent and has no final result.
  status      text not null default 'WAITING' check (status in ('WAITING', 'PENDING', 'DONE', 'FAILED', 'SKIPPED')),
  result      text,
  refusal     jsonb,
  finished_at timestamptz,
  awaited_try integer, -- of a retry: the number of the attempt whose result it waits for
  primary key (run_id, item_no)
);
create unique index bulk_items_subject on bulk_items (run_id, subject);
create index bulk_items_waiting on bulk_items (run_id, item_no) where status = 'WAITING';
create index bulk_items_pending on bulk_items (run_id, item_no) where status = 'PENDING';
-- Refunds that earlier versions have stored as done before the institution has decided them.
create index bulk_items_undecided on bulk_items (run_id, item_no)
  where status = 'DONE' and result like 'refund % is STARTED';

-- A month whose figures are final. One row for each channel, and one with channel_id 0 for the month itself.
create table closed_months (
  month      text not null,
  channel_id bigint not null,
  figures    jsonb not null,
  closed_by  text not null,
  closed_at  timestamptz not null default now(),
  primary key (month, channel_id)
);

-- The figures of each hour, for the overview. The engine keeps them up to date.
create table hourly_figures (
  hour            timestamptz not null,
  channel_id      bigint not null,
  orders_created  integer not null default 0,
  orders_ended    integer not null default 0,
  debits_paid     integer not null default 0,
  debits_failed   integer not null default 0,
  paid_cent       bigint not null default 0,
  billed_cent     bigint not null default 0,
  refunds         integer not null default 0,
  refunded_cent   bigint not null default 0,
  renewals_done   integer not null default 0,
  renewals_failed integer not null default 0,
  pushes_accepted integer not null default 0,
  pushes_failed   integer not null default 0,
  claims          integer not null default 0,
  primary key (hour, channel_id)
);
create index hourly_figures_channel on hourly_figures (channel_id, hour);
-- The same by day of Asia/Shanghai, for longer ranges.
create table daily_figures (like hourly_figures including defaults);
alter table daily_figures rename column hour to day;
alter table daily_figures add primary key (day, channel_id);
create index daily_figures_channel on daily_figures (channel_id, day);

-- The number of orders of each channel at the last count.
create table order_counts (
  channel_id        bigint primary key,
  active            integer not null,
  waiting_for_retry integer not null,
  due_today         integer not null,
  counted_at        timestamptz not null default now()
);
