import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NONCE_WINDOW_MS, TIMESTAMP_SKEW_MS } from '@perennial/wire';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { OPERATIONS } from '../../src/operations/table.js';
import { NO_PRIVILEGE_STATE, openDatabase, sqlState } from '../../src/platform/db/database.js';
import { moveLaggingSequences } from '../../src/platform/db/sequences.js';
import { signAuditLog } from '../../src/platform/secrets/keyed-hasher.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { perennial } from '../cli/perennial.js';
import { consoleClient } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { csvOf, DAY, line } from '../reconciliation/support.js';
import { capturedLog } from '../support/captured-log.js';
import { channelClient } from '../support/channel-client.js';
import { collectRequest, sharedRequest, unique } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { DELIVERY_NODE, packageRoot, type Running, serviceUrl, until } from '../support/processes.js';
import { manualClock } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';

/**
 * Runs an installation with the three roles of docs/operations.md. None of them is a superuser. The roles are not
 * dropped, because the server is deleted after the run.
 */
const on = ofFile(async () => {
  const fresh = await installation({ migrated: false });
  const suffix = randomBytes(4).toString('hex');
  const role = { owner: `owner_${suffix}`, service: `service_${suffix}`, reports: `reports_${suffix}` };
  const create = Object.values(role).map((name) => `create role ${name} login password 'secret'`);
  const urlOf = (name: string) => Object.assign(new URL(fresh.url), { username: name, password: 'secret' }).href;
  const databaseName = new URL(fresh.url).pathname.slice(1);
  await fresh.database.query(['set scram_iterations = 1', ...create].join(';'));
  await fresh.database.query(`alter database ${databaseName} owner to ${role.owner}`);
  const open = (name: string) => openDatabase({ url: urlOf(name), pool: 4, name: 'test of roles' });
  const [owner, service, reports] = [open(role.owner), open(role.service), open(role.reports)];
  const env = { ...fresh.env, DATABASE_URL: urlOf(role.service) };
  const migrated = await perennial(['migrate'], { ...env, DATABASE_URL: urlOf(role.owner) });
  expect(migrated).toMatchObject({ code: 0 });
  const grants = readFileSync(path.join(packageRoot, '..', '..', 'deploy', 'roles.sql'), 'utf8')
    .replaceAll(':"schema"', 'public')
    .replaceAll(':"service"', role.service)
    .replaceAll(':"reports"', role.reports);
  // Granted twice, as after an upgrade.
  for (const _time of [1, 2]) await owner.query(grants);
  return {
    ...fresh,
    env,
    role,
    owner,
    service,
    reports,
    async close() {
      for (const database of [owner, service, reports]) await database.close();
      await fresh.close();
    },
  };
});

const TABLES = ['events', 'delivery_attempts', 'request_log'];

/** Returns the names of the partitions, without the default partitions. */
const partitions = async () => {
  const rows = await on.owner.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any($1::regclass[]) and c.relname !~ '_default$' order by 1`,
    [TABLES],
  );
  return rows.map(({ name }) => name);
};

async function stop({ child, exited, stdout }: Running): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  expect(stdout()).not.toMatch(/permission denied|must be owner/);
}

/** Resends a request while the node answers 503 or 429, because requests exceed its time limits on a busy machine. */
const sendUntilServed = <Reply extends { readonly status: number }>(send: () => Promise<Reply>) =>
  until('an answer other than 503 and 429', async () => {
    const reply = await send();
    return reply.status !== 503 && reply.status !== 429 && reply;
  });

describe('the role of the service', () => {
  it('suffices for nodes that sell, renew and deliver, for the console and for commands', async () => {
    const nodes = [on.node({ DATABASE_URL: on.env.DATABASE_URL }), on.node({ DATABASE_URL: on.env.DATABASE_URL })];
    const [baseUrl = ''] = await Promise.all(nodes.map(serviceUrl));
    const client = channelClient(baseUrl, await on.demo());

    const [billed, debited] = [collectRequest(client), sharedRequest(client)];
    const token = await until('a token', () => client.getToken().catch(() => undefined));
    const orderNos: string[] = [];
    for (const request of [billed, debited]) {
      const options = { token, idempotencyKey: unique('order') };
      const { code, data } = await sendUntilServed(() => client.call('orders/create', request, options));
      expect(code).toBe('0');
      orderNos.push(data.orderNo);
    }
    await on.owner.query(`update orders set next_due_at = now() - interval '1 minute'`);
    await until('a second period of both', async () => {
      const [row] = await on.owner.query<{ paid: number }>(
        `select count(*)::integer as paid from payments where cycle_no = 2 and status in ('SUCCESS', 'BILLED')`,
      );
      return row?.paid === 2;
    });

    const vault = openVault([Buffer.from(on.env.MASTER_KEY, 'base64')]);
    signAuditLog(on.service, vault);
    const fresh = { url: on.env.DATABASE_URL, database: on.service, close: on.close };
    const admin = await consoleClient({ baseUrl, vault, fresh, clock: manualClock(Date.now()) }, 'admin');
    const [orderNo = '', debitedNo = ''] = orderNos;
    for (const { path: place } of OPERATIONS.filter(({ method }) => method === 'GET')) {
      const { status } = await sendUntilServed(() => admin.get(place.replaceAll(/\{\w+\}/g, orderNo)));
      expect(status, place).toBeLessThan(500);
    }

    for (const node of nodes) await stop(node);

    const { appId, callbackSecret } = client.credentials;
    const receiver = await startReceiver({ secrets: { [appId]: callbackSecret } });
    onTestFinished(receiver.close);
    await on.service.query(
      `insert into callback_urls (channel_id, event_type, url) select channel_id, '*', $2 from channels where app_id = $1`,
      [appId, receiver.url],
    );
    // Unlike other nodes, this one also sends to receivers on this machine.
    const sender = on.node({ DATABASE_URL: on.env.DATABASE_URL }, DELIVERY_NODE);
    onTestFinished(() => stop(sender));
    const run = async (...args: string[]) => {
      const { code, stderr } = await perennial(args, on.env);
      expect.soft([code, stderr], args.join(' ')).toEqual([0, stderr]);
    };
    await run('order', 'refund', debitedNo, '1');
    await run('order', 'advance', orderNo, '--cycles', '1');
    const statement = path.join(on.env.DATA_DIR, 'statement.csv');
    writeFileSync(statement, csvOf([line('STRANGER')]));
    await run('reconciliation', 'run', '--payment-channel', 'MOCKPAY', '--day', DAY, '--csv', statement);
    await run('user', 'export', appId, debited.channelUserId);
    for (const one of [orderNo, debitedNo]) await run('order', 'unsubscribe', one, '--reason', 'test');
    await receiver.until(() => new Set(receiver.pushes.map(({ data }) => data.orderNo)).size === 2);
    await run('user', 'erase', appId, billed.channelUserId, '--reason', 'test');
    await run('channel', 'rotate-data-key', appId);
    await run('master-key', 'rewrap');
    await run('audit', 'verify');
    await run('numbers', 'skip');
    await run('restore-check');
  });

  it('suffices for housekeeping: partitions are created, gathered and dropped', async () => {
    const names = await partitions();
    const log = capturedLog();
    const tidy = createHousekeeping({ database: on.service, log: log.log, eventsRetentionDays: 30 });
    for (const name of names) await on.owner.query(`drop table ${name}`);
    const push = (at: string, count: number) =>
      on.service.query(
        `insert into delivery_attempts (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, latency_ms, at, outcome)
         select 1, n, ${at}, true, 0, 0, 5, ${at}, 'ACCEPTED' from generate_series(1, ${count}) n`,
      );
    await push('now()', 10_001);
    await push(`now() - interval '60 days'`, 3);
    await on.service.query(
      `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, address)
       values (now(), 1, '/x', '0', 200, 1, 'x', '127.0.0.1')`,
    );
    await on.service.query(
      `insert into nonces (slot, channel_id, nonce, seen_at)
       select (floor((extract(epoch from now()) * 1000 + $1) / $2)::bigint + 1) % 4, 1, '\\x00', now() - interval '1 hour'`,
      [TIMESTAMP_SKEW_MS, NONCE_WINDOW_MS],
    );
    expect(await tidy()).toMatchObject({
      eventWeeksMade: 5,
      strayAttemptsDeleted: 3,
      strayAttemptsGathered: 10_001,
      attemptWeeksMade: 4,
      strayRequestsGathered: 1,
      requestDaysMade: 3,
      nonceSlotsEmptied: 1,
    });
    expect(await partitions()).toEqual(names);
    await on.owner.query(
      `create table events_20260105 partition of events for values from ('2026-01-05 00:00+08') to ('2026-01-12 00:00+08')`,
    );
    expect(await tidy()).toMatchObject({ eventWeeksDropped: 1 });
    expect(await partitions()).toEqual(names);
    // Housekeeping has replaced a default partition. The service can read and write the new one.
    expect(await tidy()).toEqual({});
    expect(log.text()).not.toContain('a background job failed');
  });

  it('moves sequences that a restore left behind', async () => {
    await on.owner.query('alter sequence agreement_numbers restart');
    await on.owner.query(`insert into agreements (agreement_id, channel_id, channel_user_id, payment_channel_code, source, status,
        card_hash, certificate_hash, card_tail, details)
      values (200000000009, 1, 'x', 'MOCKPAY', 'SELF_BINDING', 'BIND_FAIL', '', '', '', '') on conflict do nothing`);
    expect(await moveLaggingSequences(on.service)).toEqual(['agreement_numbers']);
  });

  it.each([
    ['a new table', 'create table more (a integer)'],
    ['a new schema', 'create schema more'],
    ['a new function', 'create function more() returns integer language sql as $$ select 1 $$'],
    ['a new trigger', 'create trigger more after insert on orders execute function queue_events()'],
    ['a changed table', 'alter table orders add column more text'],
    ['a changed function', 'alter function lock_sequence(text) security invoker'],
    ['a dropped table', 'drop table events_default'],
    ['a dropped trigger', 'drop trigger link_audit_entry on audit_log'],
    ['a trigger that is off', 'alter table audit_log disable trigger all'],
    ['an emptied table', 'truncate orders'],
    ['a changed audit entry', `update audit_log set actor = 'nobody'`],
    ['a deleted audit entry', 'delete from audit_log'],
    ['a changed log of migrations', 'delete from schema_migrations'],
    ['a file of the server', `copy orders to '/tmp/orders'`],
    ['a program of the server', `copy orders from program 'id'`],
    ['passwords of roles', 'select rolpassword from pg_authid'],
    ['another schema', 'select * from elsewhere.secrets'],
  ])('does not allow %s', async (_what, text) => {
    await on.owner.query('create schema if not exists elsewhere; create table if not exists elsewhere.secrets ()');
    const state = await on.service.query(text).catch(sqlState);
    expect(state).toBe(NO_PRIVILEGE_STATE);
  });

  it.each([
    `select make_partitions('orders', 1)`,
    `select make_partitions('events', 1000)`,
    `select gather_strays('orders')`,
    `select drop_old_partition('orders', 30)`,
    `select lock_sequence('orders')`,
    `select lock_sequence('elsewhere.numbers')`,
  ])('refused, although its function has the rights of the owner: %s', async (text) => {
    await expect(on.service.query(text)).rejects.toThrow();
  });

  it('drops no partition of the last week, whatever retention is given', async () => {
    const names = await partitions();
    await on.service.query(`select drop_old_partition(name, -1000) from unnest($1::text[]) name`, [TABLES]);
    expect(await partitions()).toEqual(names);
  });

  it('cannot put a table of its own in place of one that the functions change', async () => {
    const found = await on.service.transaction(async (tx) => {
      await tx.query('create temporary table events_default (recorded_at timestamptz)');
      await tx.query('insert into pg_temp.events_default values (now())');
      return tx.query(`select gather_strays('events') as gathered`);
    });
    expect(found).toEqual([{ gathered: 0 }]);
  });

  it('does not suffice for perennial migrate, which names the right role', async () => {
    expect(await perennial(['migrate', '--status'], on.env)).toMatchObject({ code: 0 });
    expect(await perennial(['migrate'], on.env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run perennial migrate with the role that owns the tables'),
    });
  });
});

/**
 * Columns that reports must not read: keys, secrets, personal data, free texts, names of operators, and state that says
 * nothing about the business. Every other column is in deploy/roles.sql. A new column belongs to one of the two.
 */
const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  channels: [
    ...['version', 'token_epoch', 'data_key', 'app_secret', 'aes_key', 'callback_secret', 'ip_allow_list'],
    ...['rate_burst', 'voided_period_events', 'frame_origins', 'answer_encryption', 'accepts_v1', 'former_app_secret'],
    ...['former_secret_until', 'look_up_key'],
  ],
  products: ['retry_delays'],
  payment_channels: ['gateway_url', 'supported_banks', 'bank_code_required', 'gateway_key', 'common_numbers'],
  agreements: [
    ...['channel_user_id', 'agreement_no', 'institution_no', 'institution_hash', 'card_hash', 'certificate_hash'],
    ...['card_tail', 'details', 'code_sent_at', 'wrong_codes', 'gateway_reference', 'cancel_at', 'cancel_tries'],
    ...['line_id', 'number_released', 'unused_since', 'data_deleted_at'],
  ],
  orders: ['channel_user_id', 'unsubscribe_reason', 'channel_agreement_ref', 'notice_days', 'noticed_cycle'],
  debit_attempts: ['ask_at', 'asked', 'retry_by_schedule'],
  refunds: ['request_key', 'requested_by', 'note', 'ask_at', 'asked'],
  benefits: ['claim_no'],
  claims: [
    ...[
      'code',
      'ask_at',
      'asked',
      'code_hash',
      'code_of',
      'first_shown_at',
      'last_shown_at',
      'replaced',
      'replaced_at',
    ],
  ],
  reconciliations: ['run_by'],
  reconciliation_differences: ['closed_by', 'closing_note', 'owner'],
  closed_months: ['closed_by'],
  channel_fees: ['set_by'],
  events: ['data'],
  delivery_attempts: ['answer'],
  request_log: ['request_id', 'reason', 'address'],
};

/** Tables of which reports must not read any column, for the same reasons as the columns in HIDDEN. */
const HIDDEN_TABLES = [
  ...['alert_comments', 'alert_messages', 'alerts', 'approvals', 'audit_checkpoint', 'audit_head', 'audit_log'],
  ...['audit_seals', 'audit_texts', 'backups', 'benefit_fulfilments', 'benefit_presentations', 'bulk_items'],
  ...['bulk_runs', 'callback_urls', 'channel_brandings', 'channel_users', 'console_sessions', 'data_key_rotations'],
  ...['debit_paces', 'delivery_nodes', 'delivery_pauses', 'delivery_shards', 'due_events', 'erased_users'],
  ...['external_orders', 'idempotency', 'images', 'installation', 'institution_health', 'job_marks', 'look_up_keys'],
  ...['mentions', 'saved_views'],
  ...['nonces', 'notice_alignments', 'order_journeys', 'order_notes', 'people', 'pool_codes', 'rate_limits'],
  ...['replaced_codes'],
  ...['schema_migrations', 'sign_in_failures', 'sign_in_traces', 'single_sign_on_tries', 'sms_sends'],
  ...['undecryptable_fields', 'undelivered_events', 'unsubscribe_tries'],
];

describe('the role of reports', () => {
  it('reads every column, except those that were decided to be hidden', async () => {
    const rows = await on.owner.query<{ table: string; column: string; isVisible: boolean }>(
      `select c.relname as table, a.attname as column, has_column_privilege($1, c.oid, a.attnum, 'select') as "isVisible"
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
         and a.attnum > 0 and not a.attisdropped order by 1, 2`,
      [on.role.reports],
    );
    const hidden: Record<string, string[]> = {};
    const visible = new Set(rows.filter(({ isVisible }) => isVisible).map(({ table }) => table));
    for (const { table, column, isVisible } of rows)
      if (!isVisible && visible.has(table)) hidden[table] = [...(hidden[table] ?? []), column];
    const decided = Object.entries(HIDDEN).map(([table, columns]) => [table, columns.toSorted()]);
    expect(hidden).toEqual(Object.fromEntries(decided));
    const tables = new Set(rows.map(({ table }) => table).filter((table) => !visible.has(table)));
    expect([...tables].toSorted()).toEqual(HIDDEN_TABLES.toSorted());
  });

  it('reads figures', async () => {
    for (const text of [
      'select product_code, sum(paid_amount_cent) from orders group by 1',
      'select date_trunc($1, paid_at), count(*) from payments group by 1',
      'select c.name, r.amount_cent from refunds r join channels c using (channel_id)',
      'select outcome, count(*) from delivery_attempts group by 1',
    ])
      await on.reports.query(text, text.includes('$1') ? ['month'] : []);
  });

  it.each([
    ['a wrapped master key', 'select wrapped_master_key from installation'],
    ['secrets of channels', 'select app_secret from channels'],
    ['data keys', 'select data_key, look_up_key from channels'],
    ['data keys in rotation', 'select other_key from data_key_rotations'],
    ['keys of bridges', 'select gateway_key from payment_channels'],
    ['passwords', 'select password_hash, former_passwords, totp_secret from people'],
    ['sessions', 'select token_hash from console_sessions'],
    ['mobiles', 'select mobile, mobile_hash from channel_users'],
    ['details of agreements', 'select details from agreements'],
    ['whole rows', 'select * from orders'],
    ['whole rows as JSON', 'select to_jsonb(o) from orders o'],
    ['a partition', `select data from events_default`],
    ['texts of the audit log', 'select texts from audit_texts'],
    ['addresses of sign-ins', 'select address from sign_in_traces'],
    ['a write', `update orders set status = 'COMPLETED'`],
    ['a lock of rows', 'select order_no from orders for update'],
    ['a lock of a table', 'lock table orders in access exclusive mode'],
    ['a number', `select nextval('order_numbers')`],
    ['a moved sequence', `select setval('order_numbers', 1)`],
    ['a function with the rights of the owner', `select lock_sequence('order_numbers')`],
    ['a new table', 'create table more (a integer)'],
  ])('is refused %s', async (_what, text) => {
    const state = await on.reports.transaction((tx) => tx.query(text)).catch(sqlState);
    expect(state).toBe(NO_PRIVILEGE_STATE);
  });
});
