-- Whether an address accepts pushes, from all nodes (0021-webhooks.md). An address that accepts every push is not updated.
alter table callback_urls
  add column answered_at   timestamptz, -- the last accepted push when the row was updated
  add column failed_at     timestamptz,
  add column failing_since timestamptz, -- the first failed push after the last accepted one. Null after an accepted push
  add column failures      integer not null default 0; -- since then
