-- An event for which its channel has no address is put aside as it is written, and not queued, read and taken out again. Reasons:
-- docs/decisions/0021-webhooks.md.
create or replace function queue_events() returns trigger
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
