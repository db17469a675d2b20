-- Orders of mode A whose next step may be taken without a debit: of one period, to be completed, or with a retry that may
-- have come too late. They do not wait for the hours or the pace of their payment channel. Reasons:
-- docs/decisions/0016-renewals.md.
create index orders_due_without_debit on orders (next_due_at, order_no)
  where next_due_at is not null and settlement_mode = 'SVC_DEDUCT'
    and (total_cycles = 1 or latest_payment_status = 'FAIL_RETRY');
