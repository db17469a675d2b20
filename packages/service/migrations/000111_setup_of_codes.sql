-- A set-up of authenticator codes that was begun ends after some minutes (0030-console.md). A set-up without a time has ended.

alter table people add column totp_pending_until timestamptz;
