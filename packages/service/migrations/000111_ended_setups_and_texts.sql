-- A set-up of authenticator codes that was begun ends after some minutes (0030-console.md). A set-up without a time has ended.
alter table people add column totp_pending_until timestamptz;

-- The erasure of a user removes the texts of an audit entry and keeps their row, with a seal in the place of the salt
-- (0013-personal-data.md). Without the row, a verification would not know the erasure from a deletion by somebody else.
alter table audit_texts alter column texts drop not null;
