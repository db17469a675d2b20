-- Fees and revenue shares of channels. A row is valid from its month until the channel's next row. `closed_months` keeps a copy
-- of the terms with which a month was closed.
create table channel_fees (
  channel_id         bigint not null references channels,
  from_month         text not null check (from_month ~ '^\d{4}-(0[1-9]|1[0-2])$'),
  fee_basis_points   integer not null check (fee_basis_points between 0 and 10000),
  fee_fixed_cent     bigint not null check (fee_fixed_cent between 0 and 100000),
  share_basis_points integer not null check (share_basis_points between 0 and 10000),
  set_by             text not null,
  set_at             timestamptz not null default now(),
  primary key (channel_id, from_month)
);
