-- Kinds of declines, calls to institutions and suppliers, paused debits, recovery codes.

-- Null: an older node settled the attempt. It counts as OTHER.
alter table debit_attempts add column decline_kind text;
alter table failed_payments add column decline_kind text;

create or replace function keep_failed_payment() returns trigger
  language plpgsql as $$
begin
  if new.status in ('FAIL_RETRY', 'FAIL') then
    insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent, tries,
      reason, decline_kind, failed_at)
    select new.order_no, new.cycle_no, new.channel_id, o.product_code, d.payment_channel_code, new.status, new.amount_cent,
      new.attempts, d.reason, d.decline_kind, d.settled_at
    from debit_attempts d, orders o
    where d.order_no = new.order_no and d.cycle_no = new.cycle_no and d.try_no = new.attempts and d.status = 'FAIL'
      and o.order_no = new.order_no
    on conflict (order_no, cycle_no) do update set status = excluded.status, tries = excluded.tries, reason = excluded.reason,
      decline_kind = excluded.decline_kind, payment_channel_code = excluded.payment_channel_code, failed_at = excluded.failed_at;
  else
    delete from failed_payments f where f.order_no = new.order_no and f.cycle_no = new.cycle_no;
  end if;
  return null;
end $$;

-- Since when renewals are held. Null: they are not.
alter table payment_channels add column debits_paused_at timestamptz;

-- The SHA-256 of the operator's unused recovery codes, base64url.
alter table people add column recovery_hashes text[] not null default '{}';

-- Calls to institutions (code: the payment channel) and suppliers (code: the benefit), added up by all nodes for each minute and hour.
create table peer_calls (
  grain           text not null check (grain in ('MINUTE', 'HOUR')),
  at              timestamptz not null, -- the beginning of the minute or hour
  peer            text not null check (peer in ('INSTITUTION', 'SUPPLIER')),
  code            text not null,
  calls           bigint not null,
  succeeded       bigint not null,
  declined        bigint not null, -- answered with a refusal
  unknown         bigint not null, -- without a usable answer
  debits_paid     bigint not null,
  debits_declined bigint not null,
  first_debits    bigint not null, -- first debits of new orders that were sent
  total_ms        bigint not null,
  max_ms          integer not null,
  primary key (grain, at, peer, code)
);

-- Afterwards:
create index concurrently if not exists failed_payments_of_kind on failed_payments (decline_kind, failed_at, order_no, cycle_no);
