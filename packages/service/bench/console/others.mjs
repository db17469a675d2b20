import { listBacklogs } from '../../dist/delivery/queue/backlog-sql.js';
import { pageAlerts } from '../../dist/operator/alerts.js';
import { listApprovals } from '../../dist/operator/approvals/approvals.js';
import { listAuditPage } from '../../dist/operator/audit/audit.js';
import { pageDifferences, pageReconciliations } from '../../dist/operator/books/reconciliation.js';
import { listSettlementLines } from '../../dist/operator/books/settlement-lines.js';
import { listSettlementMonths } from '../../dist/operator/books/settlement-months.js';
import { listRunItems, listRuns } from '../../dist/operator/bulk/bulk-runs.js';
import { pageEvents } from '../../dist/operator/events/channel-events.js';
import { listMentions } from '../../dist/operator/orders/mentions.js';
import { readHealth } from '../../dist/operator/overview/health.js';
import { countWaiting } from '../../dist/operator/overview/waiting-counts-sql.js';
import { listViews } from '../../dist/operator/payments/saved-views-sql.js';
import { describePeople } from '../../dist/operator/people/people-sql.js';
import { describeBenefits } from '../../dist/operator/provisioning/benefits-sql.js';
import { listChannels } from '../../dist/operator/provisioning/channels.js';
import { pageRequests, summarizeRequests } from '../../dist/operator/requests.js';
import { FIRST } from './orders.mjs';

const OPERATORS = 40;
const ENTRIES = 500_000;
const DUE_OF_LARGE = 200_000;
/** The operator who reads the lists of their own. */
const READER = { personId: 1, name: 'operator1', role: 'finance', sessionId: 'bench' };

/**
 * Fills the other tables that the console lists, as 40 operators leave them after a year. The first channel's receiver
 * has been down for hours: many of its events wait, and some were given up. Every tenth channel has no callback
 * address for its latest events.
 */
export async function makeOthers({ maker }, { orders }) {
  await maker.query('set session_replication_role = replica');
  for (const text of OTHERS) {
    await maker.query(
      text.replaceAll(':orders', String(orders)).replaceAll(':entries', String(Math.min(ENTRIES, orders))),
    );
  }
  await maker.query('set session_replication_role = origin');
  for (const table of TABLES) await maker.query(`vacuum analyze ${table}`);
}

const TABLES = [
  ...[
    'people',
    'audit_log',
    'order_notes',
    'mentions',
    'saved_views',
    'alerts',
    'approvals',
    'bulk_runs',
    'bulk_items',
  ],
  ...['request_log', 'reconciliations', 'reconciliation_differences', 'peer_calls', 'pool_codes', 'due_events'],
  ...['undelivered_events', 'delivery_attempts', 'order_counts'],
];

const orderOf = (n) => `${FIRST} + ${n} * 7919::bigint % :orders`;

const OTHERS = [
  `insert into people (name, role, created_by) select 'operator' || n, (array['admin', 'support', 'finance', 'support', 'viewer'])[1 + n % 5], 'bench'
   from generate_series(1, ${OPERATORS}) n`,
  // One entry in 50,000 is a month's close, and half of the entries are searches and opened users.
  `insert into audit_log (at, actor, action, subject, detail, chain_no)
   select now() - interval '13 months' * (1 - n::float8 / :entries), 'operator' || 1 + (sqrt(n * 7919::bigint % 1600))::integer,
     case when n % 50000 = 7 then 'month.close' when n % 2 = 0 then (array['search.mobile', 'user.show'])[1 + n / 2 % 2]
       else (array['order.note', 'order.unsubscribe', 'payment.refund', 'approval.approve', 'payment.retry'])[1 + n / 2 % 5] end,
     case when n % 2 = 0 then 'user-' || md5((n % 100000)::text) else (${orderOf('n')})::text end, '{"note": "bench"}', n
   from generate_series(1, :entries) n`,
  `insert into order_notes (order_no, author, at, text)
   select ${orderOf('n')}, 'operator' || 1 + n % ${OPERATORS}, now() - interval '13 months' * (1 - n::float8 / (:entries / 4)), '@operator1 please look'
   from generate_series(1, :entries / 4) n`,
  `insert into mentions (note_id, person_id, seen_at)
   select note_id, 1 + note_id % ${OPERATORS}, case when note_id % 50 <> 0 then at end from order_notes where note_id % 2 = 0`,
  `insert into saved_views (person_id, name, address)
   select p, 'view ' || n, '/payments?status=FAIL' from generate_series(1, ${OPERATORS}) p, generate_series(1, 50) n`,
  `insert into alerts (kind, subject, detail, first_seen_at, last_seen_at, resolved_at, to_tell, owner)
   select 'kind-' || n % 12, 'subject-' || n, 'bench', at, at, case when n % 200 <> 0 then at + interval '1 hour' end, null,
     case when n % 3 = 0 then 'operator' || 1 + n % ${OPERATORS} end
   from generate_series(1, :entries / 20) n, lateral (select now() - interval '13 months' * (1 - n::float8 / (:entries / 20)) as at) a`,
  `insert into approvals (kind, status, subject, request_key, amount_cent, note, requested_by, requested_at, decided_by, decided_at,
     result, seen_at, done_at)
   select 'REFUND', s.status, (${orderOf('n')}) || '-1', 'key-' || n, 100, 'bench', 'operator' || 1 + n % ${OPERATORS}, at,
     case s.status when 'WAITING' then null when 'WITHDRAWN' then 'operator' || 1 + n % ${OPERATORS} else 'operator' || 1 + (n + 1) % ${OPERATORS} end,
     case when s.status <> 'WAITING' then at end, case when s.status = 'APPROVED' then 'refunded' end,
     case when n % 1000 <> 3 then at end, null
   from generate_series(1, :entries / 10) n, lateral (select now() - interval '13 months' * (1 - n::float8 / (:entries / 10)) as at) a,
     lateral (select case when n > :entries / 10 - 60 then 'WAITING' when n % 20 = 3 then 'DECLINED' when n % 5000 = 4 then 'FAILED'
       when n % 100 = 5 then 'WITHDRAWN' else 'APPROVED' end as status) s`,
  `insert into bulk_runs (kind, status, request_key, filter, reason, items, requested_by, requested_at, finished_at)
   select 'RETRY', 'DONE', 'key-' || n, '{}', 'bench', 0, 'operator' || 1 + n % ${OPERATORS}, now() - n * interval '4 hours', now()
   from generate_series(1, 2000) n`,
  `insert into bulk_items (run_id, item_no, subject, order_no, status, result, finished_at)
   select r.run_id, n, (${orderOf('(n + r.run_id)')}) || '-1-' || n, ${orderOf('(n + r.run_id)')}, case when n % 1000 = 0 then 'FAILED' else 'DONE' end,
     'bench', now()
   from (select run_id, row_number() over (order by run_id) as place from bulk_runs) r, generate_series(1, case when place <= 30 then 10000 else 100 end) n`,
  `do $$ declare first timestamp := date_trunc('day', now() at time zone 'Asia/Shanghai'); begin
     for n in 1 .. 7 loop
       execute format('create table if not exists %I partition of request_log for values from (%L) to (%L)',
         partition_name('request_log', first - n * interval '1 day'), (first - n * interval '1 day') at time zone 'Asia/Shanghai',
         (first - (n - 1) * interval '1 day') at time zone 'Asia/Shanghai');
     end loop; perform make_partitions('request_log', 1); end $$`,
  `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, address)
   select now() - interval '7 days' * (1 - n::float8 / :entries), o.channel_id, 'orders/query', case when n % 50 = 0 then '401002' else '0' end, 200, 5,
     md5(n::text), '203.0.113.7'
   from generate_series(1, :entries) n, lateral (select channel_id from orders where order_no = ${orderOf('n')}) o`,
  `insert into reconciliations (payment_channel_code, day, source, lines, differences, run_by)
   select code, current_date - n, 'FILE', 300000, 50, 'bench' from payment_channels, generate_series(1, 400) n`,
  `insert into reconciliation_differences (payment_channel_code, day, kind, line_kind, number, closed_by, closed_at)
   select 'MOCKPAY', current_date - 1 - n / 50, 'MISSING_HERE', 'debit', n::text, case when n > 200 then 'bench' end, case when n > 200 then now() end
   from generate_series(1, 20000) n`,
  `insert into peer_calls (grain, at, peer, code, calls, succeeded, declined, unknown, debits_paid, debits_declined, first_debits, total_ms, max_ms)
   select g.grain, g.at, p.peer, p.code, 200, 190, 8, 2, 180, 8, 20, 20000, 900
   from (select 'MINUTE' as grain, date_trunc('minute', now()) - n * interval '1 minute' as at from generate_series(0, 2880) n
     union all select 'HOUR', date_trunc('hour', now()) - n * interval '1 hour' from generate_series(0, 9600) n) g,
     (select 'INSTITUTION' as peer, 'BANK_' || n as code from generate_series(1, 20) n union all select 'SUPPLIER', 'BENEFIT_' || n from generate_series(1, 10) n
     union all select 'CHANNEL', app_id from channels) p`,
  `insert into pool_codes (benefit_code, code_hash, code, given_to)
   select 'POOLED_' || n % 3, key_of('pool-' || n), case when n > :entries then 'sealed' end, case when n <= :entries then 'C' || n end
   from generate_series(1, :entries + :entries / 5) n`,
  `insert into benefit_fulfilments (benefit_code, kind) select 'POOLED_' || n, 'POOL' from generate_series(0, 2) n`,
  `insert into due_events (shard, next_at, event_no, channel_id, order_no, is_payment, recorded_at, step, retry_no)
   select e.event_no % 64, now() + interval '1 hour', e.event_no, e.channel_id, e.order_no, true, e.recorded_at, 3, 3
   from (select channel_id, row_number() over (order by channel_id) as place from channels) c, lateral (
     select * from events e where e.channel_id = c.channel_id and recorded_at > now() - interval '20 days' order by e.recorded_at desc
     limit case when (select name from channels n where n.channel_id = c.channel_id) = 'Bench channel 0' then ${DUE_OF_LARGE} else 20 end) e`,
  `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
   select e.channel_id, e.event_no, 0, e.order_no, true, e.recorded_at, 9, case when name = 'Bench channel 0' then 'GIVE_UP' else 'NO_CALLBACK' end
   from channels c, lateral (select * from events e where e.channel_id = c.channel_id and recorded_at between now() - interval '60 days' and now() - interval '30 days'
     order by e.recorded_at desc limit 20000) e
   where c.name = 'Bench channel 0' or c.channel_id % 10 = 5`,
  `delete from delivery_attempts d using undelivered_events u where u.reason = 'NO_CALLBACK' and d.event_no = u.event_no`,
  `update delivery_attempts d set outcome = 'REFUSED', http_status = 500, answer = 'down'
   from (select event_no from due_events union select event_no from undelivered_events) e where d.event_no = e.event_no`,
  `insert into order_counts (channel_id, active, waiting_for_retry, due_today)
   select channel_id, 1000, 5, 10 from channels on conflict do nothing`,
];

export function readsOfOthers(operator, { appIds, anyApp, small, day, orderNo }) {
  const month = (monthsAgo) =>
    new Date(operator.clock.now() - monthsAgo * 30.5 * 86_400_000 + 8 * 3_600_000).toISOString().slice(0, 7);
  const of = (kind, read, filters) =>
    Object.entries(filters).map(([label, filter]) => ({ kind, label, read: (n) => read(filter(n)) }));
  const lines = (filter) => listSettlementLines(operator, filter);
  const large = { appId: appIds[0], month: month(1) };
  return [
    ...of('settlement lines', lines, {
      'a large channel': () => large,
      'a channel': (n) => ({ appId: anyApp(n), month: month(n % 13) }),
      'a channel of few orders': (n) => ({ appId: small[n % small.length], month: month(n % 13) }),
      'this month': (n) => ({ appId: anyApp(n), month: month(0) }),
      'debits of a large channel': () => ({ ...large, kind: 'COLLECTED' }),
      'refunds of a large channel': () => ({ ...large, kind: 'REFUNDED' }),
      'refunds of a channel': (n) => ({ appId: anyApp(n), month: month(n % 13), kind: 'REFUNDED' }),
      'billed by a channel': (n) => ({ appId: anyApp(n), month: month(n % 13), kind: 'BILLED' }),
      'a product of 1 in 50': () => ({ ...large, productCode: 'MONTHLY_2' }),
      'a product that nobody has': () => ({ ...large, productCode: 'NEW' }),
      'a mode': (n) => ({ appId: anyApp(n), month: month(n % 13), settlementMode: 'SVC_DEDUCT' }),
      'refunds of a mode that has none': () => ({ ...large, kind: 'REFUNDED', settlementMode: 'CHANNEL_COLLECT' }),
    }),
    {
      kind: 'settlement lines',
      label: 'a large channel, the 20th page of 200',
      prepare: true,
      read: deepLines(operator, large, 20),
    },
    { kind: 'settlement', label: 'months', read: () => listSettlementMonths(operator) },
    ...of('events', (filter) => pageEvents(operator, filter), {
      'a large channel': () => ({ appId: appIds[0] }),
      'a channel': (n) => ({ appId: anyApp(n) }),
      'a type': (n) => ({ appId: anyApp(n), eventType: 'payment.status.changed' }),
      'a type that has none': () => ({ appId: appIds[0], eventType: 'payment.upcoming' }),
      'of an order': (n) => ({ appId: appIds[0], orderNo: orderNo(n) }),
      'on a day': (n) => ({ appId: appIds[0], from: day(20 + n), to: day(19 + n) }),
      'waiting, of a receiver that is down': () => ({ appId: appIds[0], status: 'PENDING' }),
      waiting: (n) => ({ appId: anyApp(n), status: 'PENDING' }),
      delivered: (n) => ({ appId: anyApp(n), status: 'DELIVERED' }),
      'delivered, of a receiver that is down': () => ({ appId: appIds[0], status: 'DELIVERED' }),
      'given up': () => ({ appId: appIds[0], status: 'GIVE_UP' }),
      'without an address': (n) => ({ appId: anyApp(n), status: 'NO_CALLBACK' }),
    }),
    { kind: 'events', label: 'the channels', read: () => listBacklogs(operator.database) },
    ...of('requests', (filter) => pageRequests(operator, filter), {
      'a large channel': () => ({ appId: appIds[0] }),
      'a channel': (n) => ({ appId: anyApp(n) }),
      'that failed': (n) => ({ appId: anyApp(n), code: 'failed' }),
      'by request id': () => ({ appId: appIds[0], requestId: 'nobody-has-it' }),
    }),
    {
      kind: 'requests',
      label: 'codes of a large channel',
      read: () => summarizeRequests(operator, { appId: appIds[0] }),
    },
    ...of('alerts', (filter) => pageAlerts(operator, filter), {
      open: () => ({}),
      all: () => ({ which: 'all' }),
      'of a kind': (n) => ({ which: 'all', kind: `kind-${n % 12}` }),
      'of an owner': (n) => ({ which: 'all', owner: `operator${1 + (n % OPERATORS)}` }),
      'of an owner who has none': () => ({ which: 'all', owner: 'nobody' }),
      'of nobody': () => ({ unowned: 'true' }),
    }),
    ...of('audit', (filter) => listAuditPage(operator, filter), {
      everything: () => ({}),
      'of an actor': (n) => ({ actor: `operator${1 + (n % OPERATORS)}` }),
      'of an actor who did nothing': () => ({ actor: 'nobody' }),
      'a frequent action': () => ({ action: 'search.mobile' }),
      'a rare action': () => ({ action: 'month.close' }),
      'of a subject': (n) => ({ subject: orderNo(n) }),
      'a rare action of an actor': (n) => ({ actor: `operator${1 + (n % OPERATORS)}`, action: 'month.close' }),
      'a frequent action that an actor did not do': () => ({ actor: 'operator1', action: 'payment.retry' }),
    }),
    ...of('approvals', (filter) => listApprovals(operator, filter, READER), {
      all: () => ({}),
      'that wait': () => ({ status: 'WAITING' }),
      'that failed': () => ({ status: 'FAILED' }),
      declined: () => ({ status: 'DECLINED' }),
      'own, unread': () => ({ unseen: 'true' }),
    }),
    { kind: 'bulk runs', label: 'all', read: () => listRuns(operator, {}, 'support') },
    ...of('bulk items', (filter) => listRunItems(operator, filter), {
      'of a large run': (n) => ({ runId: String(1 + (n % 30)) }),
      'that failed': (n) => ({ runId: String(1 + (n % 30)), status: 'FAILED' }),
      'that wait (none)': (n) => ({ runId: String(1 + (n % 30)), status: 'WAITING' }),
    }),
    {
      kind: 'mentions',
      label: 'unread',
      read: (n) => listMentions(operator, {}, { ...READER, personId: 1 + (n % OPERATORS) }),
    },
    { kind: 'saved views', label: 'of an operator', read: (n) => listViews(operator.database, 1 + (n % OPERATORS)) },
    {
      kind: 'menu',
      label: 'numbers of open tasks',
      read: () => countWaiting(operator.database, READER.name, READER.personId),
    },
    ...of('health', (range) => readHealth(operator, { range }), {
      '15m': () => '15m',
      '24h': () => '24h',
      '30d': () => '30d',
    }),
    ...of('reconciliations', (filter) => pageReconciliations(operator, filter), {
      all: () => ({}),
      'of an institution': () => ({ paymentChannelCode: 'MOCKPAY' }),
    }),
    ...of('differences', (filter) => pageDifferences(operator, filter), {
      open: () => ({}),
      all: () => ({ which: 'all' }),
      'on a day': () => ({ which: 'all', day: day(30).slice(0, 10) }),
    }),
    { kind: 'benefits', label: 'with their codes', read: () => describeBenefits(operator.database) },
    { kind: 'channels', label: 'all', read: () => listChannels(operator) },
    { kind: 'people', label: 'all', read: () => describePeople(operator.database) },
  ];
}

/** Reads the first `pages` pages. Returns a function that reads the page after them. */
const deepLines = (operator, filter, pages) => async () => {
  let cursor;
  const read = () => listSettlementLines(operator, { ...filter, limit: 200, ...(cursor ? { cursor } : {}) });
  for (let page = 0; page < pages; page += 1) cursor = (await read()).nextCursor;
  return read;
};
