-- The currency of every amount, fixed by the first start of a version that knows it. Null until then: nodes of the version before,
-- which may have made the row, do not name one (docs/decisions/0015-gateways.md).
alter table installation add column currency text;
