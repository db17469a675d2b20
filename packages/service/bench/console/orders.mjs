import { createChannel } from '../../dist/operator/provisioning/channels.js';
import { shanghaiText } from '../../dist/platform/db/time-sql.js';
import { paymentPayloadSql } from '../../dist/subscriptions/store/events/event-payload-sql.js';
import { dropIndexes } from '../growth/load.mjs';
import { longWork } from '../renewals/server.mjs';

/** The first order number. An order created later has a higher number. */
export const FIRST = 300_000_000_001;
const AT_A_TIME = 100_000;
/** The number of pages of `latest_periods` that one statement reads: about as many periods as AT_A_TIME. */
const PAGES_AT_A_TIME = 440;
const MONTHS = 13;
const WEEKS_OF_EVENTS = 26;

export const REASONS = [
  'insufficient funds',
  'card blocked',
  'limit exceeded',
  'issuer not available',
  'account closed',
];
export const DECLINE_KINDS = [
  'INSUFFICIENT_FUNDS',
  'CARD_LOST',
  'LIMIT_EXCEEDED',
  'INSTITUTION_UNAVAILABLE',
  'ACCOUNT_CLOSED',
];

/** The tables of orders, and the tables of their periods. Two connections fill them at the same time. */
const ORDER_TABLES = ['orders', 'external_orders', 'channel_users', 'agreements', 'events', 'delivery_attempts'];
const PERIOD_TABLES = ['payments', 'debit_attempts', 'refunds', 'claims', 'failed_payments'];

/**
 * Creates orders as they would be after a year of business, spread evenly over thirteen months. The first channel has a
 * third of them. The sizes of the others decline exponentially: with 400 channels, the second has 2 %, half of the
 * channels have fewer than 0.01 % each. In 100 orders, 55 are debited, 70 are active, and 30 have ended in
 * various ways. A few active orders have a failed period, and one debit in ten succeeded at the second attempt. An
 * order has one period per 31 days. Only its first and last period are stored, in the order of their times, because
 * this bench reads no other periods. One period in four of the last 26 weeks has an event. Mobiles cannot be decrypted;
 * users of the first channel have none. The tables are not logged, and get their indexes when they are full.
 */
export async function makeOrders({ operator, maker, place: { url } }, { orders, channels, say }) {
  const channelIds = [];
  for (let n = 0; n < channels; n += 1) {
    const { appId } = await createChannel(operator, { name: `Bench channel ${n}` });
    const [{ channelId }] = await maker.query(
      'select channel_id::integer as "channelId" from channels where app_id = $1',
      [appId],
    );
    channelIds.push(channelId);
  }
  await maker.query(`update channels set created_at = now() - interval '400 days'`);
  await makeWeeks(maker);
  await maker.query(
    `insert into payment_channels (code, display_name, gateway, supported_banks) values ('MOCKPAY', 'Bench', 'sandbox', '{ICBC}')
     on conflict do nothing`,
  );
  const other = await longWork(url);
  try {
    const [{ now }] = await maker.query(`select date_trunc('second', now()) as now`);
    const made = { orders, channelIds, now };
    await Promise.all([
      fillTables(maker, ORDER_TABLES, async () => {
        await fillInOrder(orders, (from, to) => insertRows(maker, ORDER_ROWS, made, { from, to }));
        say('    orders\n');
        await insertPeriods(maker, EVENT_ROWS, made, say);
      }),
      fillTables(other, PERIOD_TABLES, () => insertPeriods(other, PERIOD_ROWS, made, say)),
    ]);
  } finally {
    await other.end();
  }
  return channelIds;
}

/** Creates the partitions that a service of this age has. */
async function makeWeeks(maker) {
  for (const table of ['events', 'delivery_attempts']) {
    await maker.query(`do $$ declare first timestamp; begin
      for n in 1 .. ${WEEKS_OF_EVENTS} loop
        first := date_trunc('week', now() at time zone 'Asia/Shanghai') - n * interval '1 week';
        execute format('create table if not exists %I partition of ${table} for values from (%L) to (%L)',
          partition_name('${table}', first), first at time zone 'Asia/Shanghai', (first + interval '1 week') at time zone 'Asia/Shanghai');
      end loop;
    end $$`);
    await maker.query(`select make_partitions($1, 1)`, [table]);
  }
}

/** Fills tables without triggers, indexes and WAL, and then creates the indexes. */
async function fillTables(run, tables, fill) {
  const query = (text, values) => run.query(text, values);
  await query('set session_replication_role = replica');
  await query(`set work_mem = '256MB'`);
  const parts = await query(
    `select coalesce(i.inhrelid, c.oid)::regclass::text as name from pg_class c left join pg_inherits i on i.inhparent = c.oid
     where c.relname = any($1) and c.relnamespace = 'public'::regnamespace`,
    [tables],
  );
  for (const { name } of parts) await query(`alter table ${name} set unlogged`);
  for (const { name } of parts) await query(`alter table ${name} set (autovacuum_enabled = false)`);
  const makeIndexes = await dropIndexes(query, tables);
  await fill();
  await makeIndexes(() => undefined);
  for (const { name } of parts) await query(`alter table ${name} reset (autovacuum_enabled)`);
  for (const table of tables) await query(`vacuum analyze ${table}`);
  await query('set session_replication_role = origin');
}

/** Inserts the first periods of all orders by time, and then the latest periods by time. */
async function insertPeriods(run, rows, made, say) {
  await fillInOrder(made.orders, (from, to) => insertRows(run, rows, made, { from, to }));
  say('    first periods\n');
  const [{ text }] = await run.query(`select 'latest_' || pg_backend_pid() as text`);
  await run.query(
    `create unlogged table ${text} as with ${livedSql('generate_series(0, :orders - 1) n', made)}
     select n from lived where cycle_no > 1 order by created_at + (cycle_no - 1) * interval '1 month'`,
  );
  const [{ pages }] = await run.query('select pg_relation_size($1::text::regclass) / 8192 as pages', [text]);
  for (let from = 0; from < Number(pages); from += PAGES_AT_A_TIME)
    await insertRows(run, rows, made, { from, to: from + PAGES_AT_A_TIME, latest: text });
  await run.query(`drop table ${text}`);
  say('    latest periods\n');
}

async function fillInOrder(orders, insert) {
  for (let from = 0; from < orders; from += AT_A_TIME) await insert(from, Math.min(from + AT_A_TIME, orders));
}

/** Inserts the rows of the orders `from` to `to`, or of the orders that these pages of the table `latest` name. */
export async function insertRows(run, rows, made, { from, to, latest }) {
  const source =
    latest === undefined
      ? `generate_series(${from}, ${to - 1}) n`
      : `(select n from ${latest} where ctid >= '(${from},0)' and ctid < '(${to},0)') s`;
  const no = latest === undefined ? '1' : 'cycle_no';
  await run.query(
    `with ${livedSql(source, made)}, periods as materialized (
       select *, ${no} as no, created_at + (${no} - 1) * interval '1 month' as at,
         case when ${no} = cycle_no then latest when settlement_mode = 'SVC_DEDUCT' then 'SUCCESS' else 'BILLED' end as outcome
       from lived
     ), ${rows}`,
  );
}

/** SQL: the orders, as a function of their position `n`. */
export const livedSql = (source, { orders, channelIds, now }) =>
  `made as (
       select ${FIRST} + n as order_no, 'bench-order-' || (${FIRST} + n) as external_order_no,
         'bench-user-' || n / 3 as channel_user_id, n,
         (array[${channelIds.join()}])[case when n % 3 = 0 then 1 else
           1 + least(floor(-ln((n / 3 * 7919::bigint % 1000003 + 0.5) / 1000003) * ${channelIds.length} / 12), ${channelIds.length - 1})::integer end]::bigint as channel_id,
         case when n % 50 = 7 then 'MONTHLY_2' else 'MONTHLY' end as product_code,
         case when n % 100 < 55 then 'SVC_DEDUCT' else 'CHANNEL_COLLECT' end as settlement_mode,
         case when n % 100 in (3, 57) then 'COMPLETED' when n % 100 between 70 and 95 then 'UNSUBSCRIBED'
           when n % 100 in (10, 11) then 'TERMINATED' else 'ACTIVE' end as status,
         date_trunc('second', timestamptz '${now.toISOString()}' - interval '${MONTHS} months' * (1 - n::double precision / ${orders})) as created_at
       from ${source.replace(':orders', String(orders))}
     ), lived as (
       select m.*, p.period_type, p.period, p.total_cycles, p.amount_cent,
         case when status = 'TERMINATED' then 1
           else 1 + least(floor(extract(epoch from timestamptz '${now.toISOString()}' - m.created_at) / 2678400), p.total_cycles - 1)::integer end as cycle_no,
         case when status = 'TERMINATED' then 'FAIL' when settlement_mode = 'CHANNEL_COLLECT' then 'BILLED'
           when status = 'ACTIVE' and n % 200 = 21 then 'FAIL_RETRY' else 'SUCCESS' end as latest
       from made m join products p using (product_code)
     )`;

const ORDER_ROWS = `new_orders as (
       insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
         period_type, period, total_cycles, amount_cent, created_at, success_at, cycle_no, next_due_at, paid_cycles,
         paid_amount_cent, latest_payment_status, agreement_id, payment_channel_code)
       select order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status, period_type, period,
         total_cycles, amount_cent, created_at, created_at, cycle_no,
         case when status = 'ACTIVE' then created_at + cycle_no * interval '1 month' end, cycle_no, cycle_no * amount_cent, latest,
         case when settlement_mode = 'SVC_DEDUCT' then order_no end, case when settlement_mode = 'SVC_DEDUCT' then 'MOCKPAY' end
       from lived
     ), new_external as (
       insert into external_orders (external_order_no, channel_id, order_no, user_key, created_at, single, product_code)
       select external_order_no, channel_id, order_no, key_of(channel_user_id), created_at, false, product_code from lived
     ), new_users as (
       insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile)
       select channel_id, channel_user_id, key_of(channel_user_id || channel_id), 'sealed' from lived where n % 3 = 1
     )
     insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status, agreement_no,
       institution_hash, card_hash, certificate_hash, card_tail, details, created_at)
     select order_no, channel_id, channel_user_id, 'MOCKPAY', 'SHARED_FROM_CHANNEL', 'BIND_SUCCESS', 'AG' || order_no,
       key_of(order_no::text), key_of(channel_user_id), key_of(channel_user_id), lpad((n / 3 % 10000)::text, 4, '0'), 'sealed',
       created_at
     from lived where settlement_mode = 'SVC_DEDUCT'`;

const anyOf = (texts) => `(array[${texts.map((text) => `'${text}'`).join()}])[1 + order_no % ${texts.length}]`;

export const PERIOD_ROWS = `details as materialized (
       select *, n % 10 = 3 and settlement_mode = 'SVC_DEDUCT' and outcome = 'SUCCESS' as is_again,
         n % 50 = 1 and n % 12 <> 1 and settlement_mode = 'SVC_DEDUCT' and outcome = 'SUCCESS' as is_refunded
       from periods
     ), new_payments as (
       insert into payments (order_no, cycle_no, channel_id, status, expect_at, paid_at, amount_cent, refund_amount_cent, attempts)
       select order_no, no, channel_id, case when is_refunded then 'REFUND_PART' else outcome end, at,
         case when outcome not in ('FAIL', 'FAIL_RETRY') then at + is_again::integer * interval '1 day' end, amount_cent,
         is_refunded::integer * 100, case when settlement_mode = 'SVC_DEDUCT' then 1 + is_again::integer else 0 end
       from details
     ), new_attempts as (
       insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, status,
         reason, decline_kind, institution_ref, started_at, settled_at, paid_at)
       select order_no, no, t, channel_id, order_no, 'MOCKPAY', amount_cent, case when is_failed then 'FAIL' else 'SUCCESS' end,
         case when is_failed then ${anyOf(REASONS)} end, case when is_failed then ${anyOf(DECLINE_KINDS)} end,
         case when not is_failed then 'ref-' || order_no || '-' || no end, started, started + interval '1 s', case when not is_failed then started end
       from details, generate_series(1, 1 + is_again::integer) t,
         lateral (select outcome in ('FAIL', 'FAIL_RETRY') or is_again and t = 1 as is_failed, at + (t - 1) * interval '1 day' as started) f
       where settlement_mode = 'SVC_DEDUCT'
     ), new_failures as (
       insert into failed_payments (order_no, cycle_no, channel_id, product_code, payment_channel_code, status, amount_cent, tries,
         reason, decline_kind, failed_at)
       select order_no, no, channel_id, product_code, 'MOCKPAY', outcome, amount_cent, 1, ${anyOf(REASONS)}, ${anyOf(DECLINE_KINDS)}, at
       from details where outcome in ('FAIL', 'FAIL_RETRY')
     ), new_refunds as (
       insert into refunds (order_no, cycle_no, refund_seq, try_no, channel_id, payment_channel_code, amount_cent, status,
         reason, requested_by, started_at, refunded_at, settled_at)
       select order_no, no, 1, 1, channel_id, 'MOCKPAY', 100, case when is_refunded then 'SUCCESS' else 'FAIL' end,
         case when not is_refunded then ${anyOf(REASONS)} end, 'bench',
         refunded, case when is_refunded then refunded end, refunded + interval '1 s'
       from details, lateral (select least(at + interval '2 days', now()) as refunded) r where n % 50 = 1 and settlement_mode = 'SVC_DEDUCT' and outcome = 'SUCCESS'
     )
     insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, code_hash, claimed_at,
       fulfilled_at)
     select order_no, no, 1, channel_id, 'VIP_PASS', 'GENERATED', 'FULFILLED', 'sealed', key_of('code-' || order_no || no),
       at + interval '1 hour', at + interval '1 hour'
     from details where n % 5 = 0`;

export const EVENT_ROWS = `new_events as (
       insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, recorded_at, data)
       select channel_id, order_no, 'payment.status.changed', no, at, at + interval '1 s',
         ${paymentPayloadSql({
           orderNo: 'order_no',
           externalOrderNo: 'external_order_no',
           channelUserId: 'channel_user_id',
           cycleNo: 'no',
           expectPayTime: shanghaiText('at'),
           paidAt: shanghaiText('at'),
           amountCent: 'amount_cent',
           paymentStatus: 'outcome',
           agreementShareFlag: 'true',
         })}
       from periods where n % 4 = 0 and at > now() - interval '180 days'
       returning event_no, channel_id, recorded_at
     )
     insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, recorded_at, is_payment)
     select channel_id, event_no, recorded_at + interval '1 s', 0, 'ACCEPTED', 0, 200, 12, recorded_at, true from new_events`;
