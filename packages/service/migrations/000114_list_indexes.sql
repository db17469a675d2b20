-- Lists of the debits and refunds of all channels (0030-console.md).

-- Afterwards:
create index concurrently if not exists debit_attempts_at on debit_attempts (started_at);
create index concurrently if not exists refunds_at on refunds (started_at);
