-- The server and the database that the installation runs on, as "system identifier/oid". A copy that was restored elsewhere has
-- other values, and debits nothing until an operator has adopted it. Null until the first start of a node that knows the column.
-- Reasons: docs/decisions/0024-alerts-and-copies.md.
alter table installation add column database_identity text;
