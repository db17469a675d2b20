import { median } from '../table.mjs';

const BATCHES = 30;
const ROWS = 1_000;
const ROUNDS = 3;

/**
 * The writes whose cost on the server is measured, without and with the indexes and the trigger that only the console
 * needs.
 */
export const WRITES = [
  {
    label: 'external_orders (each creation)',
    table: 'external_orders',
    indexes: ['external_orders_created', 'external_orders_of_product', 'external_orders_of_channel'],
    insert: `insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
      select 'w-' || n, 100001 + n % 20, n, key_of('u' || n), now() + n * interval '1 ms', false, 'MONTHLY_' || n % 5
      from generate_series($1::bigint, $1::bigint + ${ROWS - 1}) n`,
  },
  {
    label: 'agreements (each creation A.2)',
    table: 'agreements',
    indexes: ['agreements_card_tail'],
    insert: `insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
        institution_hash, card_hash, certificate_hash, card_tail, details)
      select n, 100001 + n % 20, 'u' || n, 'MOCKPAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'AG' || n, key_of('i' || n),
        key_of('c' || n), key_of('d' || n), lpad((n * 7919 % 10000)::text, 4, '0'), repeat('x', 300)
      from generate_series($1::bigint, $1::bigint + ${ROWS - 1}) n`,
  },
  {
    label: 'debit_attempts (each debit: stored and settled)',
    table: 'debit_attempts',
    indexes: ['debit_attempts_settled', 'debit_attempts_of_channel', 'debit_attempts_at'],
    insert: `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
        started_at, ask_at)
      select n, 1, 1, 100001, n, 'MOCKPAY', 1990, now(), now() from generate_series($1::bigint, $1::bigint + ${ROWS - 1}) n`,
    afterwards: `update debit_attempts set status = 'SUCCESS', settled_at = now(), paid_at = now(), ask_at = null
      where order_no between $1::bigint and $1::bigint + ${ROWS - 1}`,
  },
  {
    label: 'payments (each settlement that succeeds)',
    table: 'payments',
    trigger: 'keep_failed_payment',
    before: `insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent, attempts)
      select n, 1, 100001, 'PROCESSING', now(), 1990, 1 from generate_series(1, ${ROWS * BATCHES}) n`,
    insert: `update payments set status = 'SUCCESS', paid_at = now() where order_no between $1::bigint and $1::bigint + ${ROWS - 1}`,
  },
  {
    label: 'delivery_attempts (each push)',
    table: 'delivery_attempts',
    indexes: ['delivery_attempts_pushed'],
    insert: `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, recorded_at,
        is_payment)
      select 100001 + n % 20, n, now(), 0, 'ACCEPTED', 0, 200, 9, now(), true
      from generate_series($1::bigint, $1::bigint + ${ROWS - 1}) n`,
  },
  {
    label: 'orders (each renewal that succeeds)',
    table: 'orders',
    indexes: ['orders_ended', 'orders_ended_of_channel', 'orders_failed', 'orders_failed_of_channel'],
    before: `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
        period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, latest_payment_status)
      select n, 100001, 'w-' || n, 'u' || n, 'MONTHLY', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1, 36, 1990, now(), now(), 1, now(), 'BILLED'
      from generate_series(1, ${ROWS * BATCHES}) n`,
    insert: `update orders set cycle_no = cycle_no + 1, next_due_at = next_due_at + interval '1 month', paid_cycles = paid_cycles + 1,
        paid_amount_cent = paid_amount_cent + 1990 where order_no between $1::bigint and $1::bigint + ${ROWS - 1}`,
  },
];

/** Measures the server's CPU time, because elapsed time depends on the machine's other work. */
export async function measureWrite(maker, server, kind) {
  const { table, trigger, indexes = [] } = kind;
  const definitions = await maker.query(
    'select c.relname as name, pg_get_indexdef(c.oid) as text from pg_class c where c.relname = any($1)',
    [indexes],
  );
  const turnTrigger = async (way) => trigger && maker.query(`alter table ${table} ${way} trigger ${trigger}`);
  const rounds = { without: [], withAll: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name } of definitions) await maker.query(`drop index ${name}`);
    await turnTrigger('disable');
    rounds.without.push(await writeRows(maker, server, kind));
    for (const { text } of definitions) await maker.query(text.replace(' ON ONLY ', ' ON '));
    await turnTrigger('enable');
    rounds.withAll.push(await writeRows(maker, server, kind));
  }
  await maker.query(`truncate ${table}`);
  const middle = (all) => ({ us: median(all.map(({ us }) => us)), wal: median(all.map(({ wal }) => wal)) });
  return { without: middle(rounds.without), withAll: middle(rounds.withAll) };
}

async function writeRows(maker, server, { table, before, insert, afterwards }) {
  await maker.query(`truncate ${table}`);
  if (before) await maker.query(before);
  await maker.query('checkpoint');
  const walAt = async () => (await maker.query('select pg_current_wal_lsn() as at'))[0].at;
  const from = await walAt();
  const since = server.cpu();
  for (let batch = 0; batch < BATCHES; batch += 1) {
    await maker.query(insert, [1 + batch * ROWS]);
    if (afterwards) await maker.query(afterwards, [1 + batch * ROWS]);
  }
  const us = (server.cpu() - since) / (BATCHES * ROWS);
  const [{ wal }] = await maker.query('select pg_wal_lsn_diff($1, $2)::double precision as wal', [await walAt(), from]);
  return { us, wal: wal / (BATCHES * ROWS) };
}
