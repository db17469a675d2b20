-- A partial refund may keep the benefits of its period (0017-operators-money.md). An older node does not know the column, and
-- revokes the benefits when it settles such a refund.
alter table refunds add column keep_benefits boolean not null default false;
alter table approvals add column keep_benefits boolean not null default false;
