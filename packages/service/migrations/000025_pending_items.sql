-- An item of a bulk run is PENDING while it was sent and has no final result, and a run is PENDING while it waits for such items
-- alone. Older nodes lease only runs that are RUNNING, so they leave these alone.
alter table bulk_runs drop constraint bulk_runs_status_check, add constraint bulk_runs_status_check
  check (status in ('PREPARED', 'WAITING', 'RUNNING', 'PENDING', 'DONE', 'CANCELED', 'DECLINED')) not valid;
alter table bulk_items drop constraint bulk_items_status_check, add constraint bulk_items_status_check
  check (status in ('WAITING', 'PENDING', 'DONE', 'FAILED', 'SKIPPED')) not valid;
-- Of a retry: the number of the attempt whose result it waits for.
alter table bulk_items add column awaited_try integer;

-- Afterwards:
create index concurrently bulk_runs_pending on bulk_runs (run_id) where status = 'PENDING';
create index concurrently bulk_items_pending on bulk_items (run_id, item_no) where status = 'PENDING';
-- Refunds that older nodes call done while the institution has not decided them.
create index concurrently bulk_items_undecided on bulk_items (run_id, item_no)
  where status = 'DONE' and result like 'refund % is STARTED';
alter table bulk_runs validate constraint bulk_runs_status_check;
alter table bulk_items validate constraint bulk_items_status_check;
