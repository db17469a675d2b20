-- A resend in another spelling is recognised by what its body means (0003-idempotency.md). Null: the row is from an earlier version, and
-- only a resend with the same bytes is recognised.

alter table idempotency add column meaning bytea;
