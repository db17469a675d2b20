-- The agreement was replaced with retryFailedNow false while this debit was on its way: should it fail, its period waits for the
-- product's delay. Null: its period is due at once then. Reasons: docs/decisions/0016-renewals.md.
alter table debit_attempts add column retry_by_schedule boolean;
