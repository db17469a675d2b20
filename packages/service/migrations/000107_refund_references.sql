-- The institutions' references of refunds, for statements, exports and the search (0015-gateways.md).

-- Null: the bridge sends no reference, or an older node settled the refund.
alter table refunds add column institution_ref text;

-- Afterwards:
create index concurrently if not exists refunds_of_reference on refunds (institution_ref) where institution_ref is not null;
