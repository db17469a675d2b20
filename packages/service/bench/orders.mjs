import { setTimeout as delay } from 'node:timers/promises';

const FIRST = 800_000_000_001;
const COUNT = 4000;
const POLL_MS = 20;

/**
 * Creates orders at the end of their year, for the bench rows that only read. Each order has twelve stored periods with
 * benefits, most of which have expired.
 */
export async function makeOrders(database, channelId) {
  const last = FIRST + COUNT - 1;
  const bounds = [channelId, FIRST, last];
  await database.query(
    `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
       paid_amount_cent, latest_payment_status)
     select n, $1, 'read-' || n, 'reader-' || n, 'TEST_SPU_001', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1, 12, 1990,
       now() - interval '11 months', now() - interval '11 months', 12, now() + interval '1 month', 12, 12 * 1990, 'BILLED'
     from generate_series($2::bigint, $3::bigint) n`,
    bounds,
  );
  await database.query(
    `insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent)
     select n, cycle, $1, 'BILLED', at, at, 1990
     from generate_series($2::bigint, $3::bigint) n, generate_series(1, 12) cycle,
       lateral (select now() - (12 - cycle) * interval '1 month' as at)`,
    bounds,
  );
  await database.query(
    `insert into benefits (order_no, cycle_no, position, channel_id, benefit_code, name, face_value_cent, issued_at,
       expires_at)
     select n, cycle, position, $1, 'BENEFIT_' || position, 'Benefit', 500, at, at + interval '90 days'
     from generate_series($2::bigint, $3::bigint) n, generate_series(1, 12) cycle, generate_series(1, 2) position,
       lateral (select now() - (12 - cycle) * interval '1 month' as at)`,
    bounds,
  );
  await database.query('vacuum analyze orders, payments, benefits');
  return { first: FIRST, last };
}

/** Returns the encrypted and serialised texts of one order, by the names of the variables in the pgbench scripts. */
export async function textsOf(database, orderNo) {
  const [texts] = await database.query(
    `select u.mobile, i.data as answer, a.institution_no, a.details,
       (select e.data from events e where e.order_no = o.order_no and e.cycle_no is not null) as payment_event,
       (select e.data from events e where e.order_no = o.order_no and e.cycle_no is null) as order_event
     from orders o
       join channel_users u using (channel_id, channel_user_id)
       join idempotency i on i.channel_id = o.channel_id and (i.data::json -> 'head' ->> 'orderNo')::bigint = o.order_no
       left join agreements a using (agreement_id)
     where o.order_no = $1`,
    [orderNo],
  );
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null));
}

/** Returns the number of WAL bytes written so far. */
export async function walBytes(database) {
  const [{ bytes }] = await database.query(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as bytes`,
  );
  return bytes;
}

/** Waits until the engine has processed every event, so that a reference's events do not burden the next row. */
export async function untilEventsAreGone(database) {
  for (;;) {
    const [{ waiting }] = await database.query('select exists (select from due_events) as waiting');
    if (!waiting) return;
    await delay(POLL_MS);
  }
}
