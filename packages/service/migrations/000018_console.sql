-- People who operate the service, and what the console shows and does. Reasons: docs/decisions/0030-console.md.

-- A person of the operators. Signs in by a password, or by single sign-on.
create table people (
  person_id       bigint generated always as identity primary key,
  name            text not null,
  role            text not null check (role in ('viewer', 'support', 'finance', 'admin')),
  status          text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  password_hash   text,                  -- null: none was set yet, or only single sign-on
  totp_secret     text,                  -- sealed; null: not set up
  totp_pending    text,                  -- sealed; becomes totp_secret with the first right code
  totp_step       bigint not null default 0, -- of the last code that was taken: none is taken twice
  single_sign_on  text unique,           -- issuer and subject
  setup_hash      bytea unique,          -- of the token in the one-time link
  setup_until     timestamptz,
  last_sign_in_at timestamptz,
  created_by      text not null,
  created_at      timestamptz not null default now()
);
create unique index people_name on people (lower(name));

create table console_sessions (
  session_id   uuid primary key default gen_random_uuid(),
  token_hash   bytea not null unique,
  person_id    bigint not null references people,
  address      text not null,
  user_agent   text not null,
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When the person last proved who they are.
  proven_at    timestamptz not null default now(),
  expires_at   timestamptz not null
);
create index on console_sessions (person_id);
create index on console_sessions (expires_at);

-- Wrong proofs by the name that was given, whether there is such a person or not, and by the address that they came from;
-- of somebody who is signed in, by the session.
create table sign_in_failures (
  key          text primary key, -- `name …`, `address …` or `session …`
  failures     integer not null default 1,
  began_at     timestamptz not null default now(),
  locked_until timestamptz
);
create index on sign_in_failures (began_at);

-- A sign-in by single sign-on that is under way.
create table single_sign_on_tries (
  state_hash bytea primary key,
  nonce      text not null,
  verifier   text not null, -- sealed
  return_to  text not null,
  began_at   timestamptz not null default now()
);

-- What needs a second person.
create table approvals (
  approval_id   bigint generated always as identity primary key,
  kind          text not null check (kind in ('REFUND', 'BULK')),
  -- FAILED: it was approved, and could not be done.
  status        text not null default 'WAITING'
    check (status in ('WAITING', 'APPROVED', 'DECLINED', 'WITHDRAWN', 'FAILED')),
  subject       text not null, -- `orderNo-cycleNo`, or the number of a run
  request_key   text not null,
  amount_cent   bigint not null,
  note          text not null,
  requested_by  text not null,
  requested_at  timestamptz not null default now(),
  decided_by    text,
  decided_at    timestamptz,
  decision_note text,
  result        text,
  refusal       jsonb, -- which one, where the result is one: for pages in other languages
  seen_at       timestamptz, -- when who asked said that they know that nothing came of it
  -- Who asked decides nothing but that they do not ask any more, which nobody else does.
  check (decided_by is null or (decided_by = requested_by) = (status = 'WITHDRAWN'))
);
create unique index approvals_request on approvals (kind, subject, request_key);
create index approvals_waiting on approvals (approval_id) where status = 'WAITING';
create index approvals_unfinished on approvals (approval_id) where status = 'APPROVED' and result is null;
create index approvals_unseen on approvals (requested_by, approval_id) where status in ('DECLINED', 'FAILED') and seen_at is null;

-- The same done to many.
create table bulk_runs (
  run_id       bigint generated always as identity primary key,
  kind         text not null check (kind in ('RETRY', 'REFUND', 'UNSUBSCRIBE', 'REPLAY')),
  status       text not null default 'PREPARED'
    check (status in ('PREPARED', 'WAITING', 'RUNNING', 'DONE', 'CANCELED', 'DECLINED')),
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
  -- A node works on it until then; if it dies, another goes on.
  lease_until  timestamptz
);
create unique index bulk_runs_request on bulk_runs (requested_by, request_key);
create index bulk_runs_running on bulk_runs (run_id) where status = 'RUNNING';
create index bulk_runs_refunding on bulk_runs (run_id) where kind = 'REFUND' and status in ('WAITING', 'RUNNING');

create table bulk_items (
  run_id      bigint not null references bulk_runs,
  item_no     integer not null,
  subject     text not null,
  order_no    bigint,
  amount_cent bigint not null default 0,
  status      text not null default 'WAITING' check (status in ('WAITING', 'DONE', 'FAILED', 'SKIPPED')),
  result      text,
  refusal     jsonb,
  finished_at timestamptz,
  primary key (run_id, item_no)
);
create unique index bulk_items_subject on bulk_items (run_id, subject);
create index bulk_items_waiting on bulk_items (run_id, item_no) where status = 'WAITING';

create table order_notes (
  note_id  bigint generated always as identity primary key,
  order_no bigint not null,
  author   text not null,
  at       timestamptz not null default now(),
  text     text not null
);
create index on order_notes (order_no, note_id);

alter table alerts add column owner text;
create index alerts_listed on alerts (last_seen_at, kind, subject);
-- Those of an order: its number begins theirs.
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

alter table reconciliation_differences add column owner text;

-- A month whose figures stay. One row for each channel, and one with channel_id 0 that says that the month is closed.
create table closed_months (
  month      text not null,
  channel_id bigint not null,
  figures    jsonb not null,
  closed_by  text not null,
  closed_at  timestamptz not null default now(),
  primary key (month, channel_id)
);

-- The calls of channels of the last days, without bodies.
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
-- What is asked about, and few.
create index on request_log (channel_id, at) where code <> '0';
-- One call by its id. A tree of random texts would be the dearest index of all; this has a filter for every 32 pages, which is
-- made once they are full, and costs a call nothing.
create index on request_log using brin (request_id text_bloom_ops (n_distinct_per_range = 2500)) with
  (pages_per_range = 32, autosummarize = on);
create table request_log_default partition of request_log default;

create function make_days(parent text, ahead integer) returns integer
  language plpgsql as $$
declare
  today timestamp := date_trunc('day', now() at time zone 'Asia/Shanghai');
  name text;
  made integer := 0;
begin
  for day in 0 .. ahead loop
    name := parent || '_' || to_char(today + day * interval '1 day', 'YYYYMMDD');
    if to_regclass(name) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)', name, parent,
        (today + day * interval '1 day') at time zone 'Asia/Shanghai',
        (today + (day + 1) * interval '1 day') at time zone 'Asia/Shanghai');
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;
select make_days('request_log', 3);

-- What happened in an hour, for the overview: kept up to date by the engine.
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
-- The same added up by day of Asia/Shanghai, for the longer ranges.
create table daily_figures (like hourly_figures including defaults);
alter table daily_figures rename column hour to day;
alter table daily_figures add primary key (day, channel_id);
create index daily_figures_channel on daily_figures (channel_id, day);

-- How many orders of each channel there are, as of the last time that all were counted.
create table order_counts (
  channel_id        bigint primary key,
  active            integer not null,
  waiting_for_retry integer not null,
  due_today         integer not null,
  counted_at        timestamptz not null default now()
);

alter table benefit_fulfilments add column low_stock integer check (low_stock > 0);

-- A later version of a product is a product of its own.
alter table products
  add column version    integer not null default 1,
  add column version_of text references products;
create unique index products_version on products (version_of, version) where version_of is not null;

-- The app secret before the latest roll, taken until then.
alter table channels
  add column former_app_secret   text,
  add column former_secret_until timestamptz;

-- The audit log is a chain: each entry has the hash of the one before in its own.
alter table audit_log
  add column address  text,
  add column chain_no bigint,
  add column chain    bytea;

create function audit_link(before bytea, no bigint, audit_id bigint, at timestamptz, actor text, address text, action text,
    subject text, detail jsonb) returns bytea
  language sql immutable parallel safe
  as $$ select sha256(before || convert_to(json_build_array(no, audit_id, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    actor, address, action, subject, detail)::text, 'UTF8')) $$;

create table audit_head (
  only_row boolean primary key default true check (only_row),
  chain_no bigint not null,
  chain    bytea not null
);
insert into audit_head (chain_no, chain) values (0, '');

-- One entry after another: whoever writes one waits for the transaction that wrote the one before.
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

do $$
declare
  entry record;
  head audit_head;
begin
  lock table audit_log in share row exclusive mode;
  select * into strict head from audit_head;
  for entry in select * from audit_log order by audit_id loop
    head.chain_no := head.chain_no + 1;
    head.chain := audit_link(head.chain, head.chain_no, entry.audit_id, entry.at, entry.actor, null, entry.action,
      entry.subject, entry.detail);
    update audit_log set chain_no = head.chain_no, chain = head.chain where audit_id = entry.audit_id;
  end loop;
  update audit_head set chain_no = head.chain_no, chain = head.chain;
end $$;
create trigger link_audit_entry before insert on audit_log for each row execute function link_audit_entry();

-- Of which product an order is stands with its number too: lists go by it. Compared as bytes, which costs a creation least.
alter table external_orders add column product_code text collate "C";

-- What is stored by a node of the release before, which does not know the column: filled in when it commits, since the order may
-- be stored after its number.
create function complete_product() returns trigger
  language plpgsql as $$
begin
  update external_orders e set product_code = o.product_code from orders o
  where o.order_no = new.order_no and key_of(e.external_order_no) = key_of(new.external_order_no);
  return null;
end $$;
create constraint trigger complete_product after insert on external_orders deferrable initially deferred
  for each row when (new.product_code is null) execute function complete_product();

-- Periods whose latest debit failed, with what they are asked for by. A period that is paid at once never gets in.
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
-- A reason may be longer than an index takes.
create index failed_payments_because on failed_payments (left(reason, 100), failed_at, order_no, cycle_no);

-- Kept by a trigger, so that nodes of the release before keep it too; at the commit, when the attempt and its period agree.
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

-- Afterwards:
create index concurrently audit_log_chain on audit_log (chain_no);
create index concurrently audit_log_actor on audit_log (actor, audit_id);
create index concurrently audit_log_action on audit_log (action, audit_id);

-- Lists of orders, the newest first. What lists of everything, of a product, of a channel and of a user go by stands in the
-- table whose rows never change. The others are of orders that have ended or whose latest period failed: a creation and a
-- renewal that succeeds write nothing to them.
call update_in_steps('external_orders', 'product_code = o.product_code', 'orders o',
  'o.order_no = t.order_no and t.product_code is null');
create index concurrently external_orders_created on external_orders (created_at, order_no);
create index concurrently external_orders_of_product on external_orders (product_code, created_at, order_no);
create index concurrently external_orders_of_channel on external_orders (channel_id, product_code, created_at, order_no);
create index concurrently orders_ended on orders (status, created_at, order_no)
  where status in ('UNSUBSCRIBED', 'COMPLETED', 'TERMINATED');
create index concurrently orders_ended_of_channel on orders (channel_id, status, created_at, order_no)
  where status in ('UNSUBSCRIBED', 'COMPLETED', 'TERMINATED');
create index concurrently orders_failed on orders (latest_payment_status, created_at, order_no)
  where latest_payment_status in ('FAIL_RETRY', 'FAIL');
create index concurrently orders_failed_of_channel on orders (channel_id, latest_payment_status, created_at, order_no)
  where latest_payment_status in ('FAIL_RETRY', 'FAIL');

-- Figures of an hour: rows are written in the order of time, so a block range index finds it.
create index concurrently debit_attempts_settled on debit_attempts using brin (settled_at)
  with (pages_per_range = 32, autosummarize = on);
create index concurrently claims_claimed on claims using brin (claimed_at) with (pages_per_range = 32, autosummarize = on);
create index concurrently delivery_attempts_pushed on delivery_attempts using brin (at)
  with (pages_per_range = 32, autosummarize = on);

-- A card by what people read out of it.
create index concurrently agreements_card_tail on agreements (card_tail, agreement_id) where agreement_no is not null;

-- Debits that a retry has saved.
create index concurrently debit_attempts_recovered on debit_attempts (settled_at, order_no, cycle_no)
  include (try_no, amount_cent, channel_id, payment_channel_code) where status = 'SUCCESS' and try_no > 1;

-- The trigger writes down each that it is shown.
call update_in_steps('payments', 'status = t.status', null, 't.status in (''FAIL_RETRY'', ''FAIL'')');

-- Each of these takes the place of one with the same columns in another order, or with one less, and serves nodes of the
-- release before as well. A user is found by one look-up in place of one for each channel. Orders that are due are told apart by
-- channel within the index.
create index concurrently external_orders_of_user on external_orders (user_key, channel_id, single, created_at, order_no);
drop index concurrently if exists external_orders_listed;
create unique index concurrently channel_users_by_user on channel_users (key_of(channel_user_id), channel_id);
drop index concurrently if exists channel_users_user;
create index concurrently agreements_of_user on agreements
  (key_of(channel_user_id), channel_id, (agreement_no is not null), agreement_id);
drop index concurrently if exists agreements_user;
create index concurrently orders_to_bill on orders ((order_no % 4), next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'CHANNEL_COLLECT';
drop index concurrently if exists orders_due_collect;
create index concurrently orders_to_debit on orders (payment_channel_code, next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT';
drop index concurrently if exists orders_due_deduct;
create index concurrently orders_to_move_without_debit on orders (next_due_at, order_no, channel_id)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT'
    and (total_cycles = 1 or latest_payment_status = 'FAIL_RETRY');
drop index concurrently if exists orders_due_without_debit;
