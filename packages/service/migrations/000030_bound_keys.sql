-- Keys bound to their rows, a master key in a key service, and new data keys for channels. Reasons:
-- docs/decisions/0004-secrets.md.

-- The master key, wrapped by the key service. Null if no key service is used.
alter table installation add column wrapped_master_key text;

-- The wrapped key of the hashes for look-ups. Null: it is derived from the data key, which was never replaced.
alter table channels add column look_up_key text;

-- Data keys that are being replaced. First every node reads the new key beside the current one. Then the new key becomes the
-- channel's data key, and the engine seals the channel's values under it again, in rounds.
create table data_key_rotations (
  channel_id  bigint primary key references channels,
  -- A wrapped key: until the switch the new key, afterwards the former key.
  other_key   text not null,
  began_at    timestamptz not null default now(),
  switched_at timestamptz,
  -- The last round begins a day after the switch or later. If it finds nothing under the former key, that key is deleted.
  is_last     boolean not null default false,
  -- The position of the round: the table, and the last row that was checked.
  stage       smallint not null default 0,
  after_row   text,
  -- True if the round has found a value under the former key.
  found       boolean not null default false,
  not_before  timestamptz not null
);
