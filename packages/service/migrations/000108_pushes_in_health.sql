-- Pushes to channels are counted like calls to institutions and suppliers (0023-what-is-seen.md). Their code is the app id.

alter table peer_calls
  drop constraint peer_calls_peer_check,
  add constraint peer_calls_peer_check check (peer in ('INSTITUTION', 'SUPPLIER', 'CHANNEL')) not valid;

-- Afterwards:
alter table peer_calls validate constraint peer_calls_peer_check;
