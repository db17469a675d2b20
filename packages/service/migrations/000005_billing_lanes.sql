-- Due orders of mode B in lanes by their number: each lane is billed by one statement at a time, so that none of them has to
-- look for rows that another has locked. Reasons: docs/decisions/0016-renewals.md.
drop index orders_due_collect;
create index orders_due_collect on orders ((order_no % 4), next_due_at, order_no)
  where next_due_at is not null and settlement_mode = 'CHANNEL_COLLECT';
