-- Seals of the audit log, and the position up to which it was verified. Reasons: docs/decisions/0030-console.md.

-- A seal is a MAC over the number and hash of an entry. The database has its key only wrapped under the master key.
create table audit_seals (
  chain_no bigint primary key,
  seal     bytea not null
);

create table audit_checkpoint (
  only_row     boolean primary key default true check (only_row),
  chain_no     bigint not null,
  chain        bytea not null,
  sealed_from  bigint,      -- the first sealed entry
  scheduled_at timestamptz, -- when a node last verified the log on its schedule
  whole_at     timestamptz, -- when the log was last verified from its first entry
  seal         bytea not null
);
