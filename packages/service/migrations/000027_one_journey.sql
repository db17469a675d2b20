-- Time travel in the sandbox: the advance that has an order at present, until its lease ends. Reasons: docs/decisions/0020-time-travel.md.
create table order_journeys (
  order_no    bigint primary key,
  journey_id  uuid not null,
  lease_until timestamptz not null
);
