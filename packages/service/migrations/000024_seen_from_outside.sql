-- Whether institutions answer, and when the last backup was made. Reasons: docs/decisions/0023-what-is-seen.md.

-- One row for each payment channel whose institution was called, written by every node every few seconds while it calls.
create table institution_health (
  payment_channel_code text primary key,
  answered_at          timestamptz,
  failed_at            timestamptz,
  failing_since        timestamptz, -- the first call that failed after the last answer; empty once there was an answer
  failures             integer not null default 0 -- since then
);

-- The last backup that the service knows of, made by its own command or reported to it.
create table backups (
  way     text primary key check (way in ('COPY', 'OTHER')),
  made_at timestamptz not null
);
