-- Refuses a refund with which the refunds of a payment would exceed its amount (0017-operators-money.md). A node of the previous
-- release does not count refunds that were made outside the service. Stored refunds are not checked.
create function keep_refunds_within_payment() returns trigger
  language plpgsql as $$
declare
  paid bigint;
begin
  -- The lock makes concurrent refunds of the payment wait, so the sum includes them.
  select p.amount_cent into paid from payments p
  where p.order_no = new.order_no and p.cycle_no = new.cycle_no for no key update;
  if paid < (select sum(r.amount_cent) from refunds r
      where r.order_no = new.order_no and r.cycle_no = new.cycle_no and r.status <> 'FAIL') then
    raise check_violation using message = format('the refunds of period %s of order %s exceed its payment', new.cycle_no, new.order_no);
  end if;
  return null;
end $$;
create trigger keep_refunds_within_payment after insert on refunds for each row
  when (new.status <> 'FAIL') execute function keep_refunds_within_payment();
