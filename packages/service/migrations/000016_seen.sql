-- What is counted for the metrics, and alerts that are still to be written to the log. Reasons:
-- docs/decisions/0023-what-is-seen.md.

create index alerts_open on alerts (kind) where acknowledged_at is null;

-- How often it was raised when it was last written to the log. What is there before this stands in no log, and stays so.
alter table alerts add column logged integer not null default 0;
update alerts set logged = seen;
create index alerts_to_log on alerts (last_seen_at) where logged < seen;

-- Afterwards:
create index concurrently refunds_settled on refunds (settled_at) where settled_at is not null;
