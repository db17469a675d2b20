import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openOwnServer } from '../../bench/own-server.mjs';
import { openDatabase } from '../../src/platform/db/database.js';
import { perennial } from '../cli/perennial.js';
import { dump } from '../operator/support.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { MAIN, type Running, serviceUrl, start } from '../support/processes.js';
import { copyFolder, databaseUrl } from '../support/server.js';

const run = promisify(execFile);
const MASTER_KEY = randomBytes(32).toString('base64');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-restored-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Env = Readonly<Record<string, string>>;
const on = ({ url }: { readonly url: string }): Env => ({
  DATABASE_URL: url,
  MASTER_KEY,
  DATA_DIR: path.join(folder, 'data'),
  PORT: '0',
});

async function stop(node: Running): Promise<void> {
  node.child.kill('SIGTERM');
  expect(await node.exited).toBe(0);
}

/** Starts a node, creates an order of each mode and lets the node run. */
async function startWithOrders(env: Env) {
  const node = start(MAIN, env);
  onTestFinished(() => void node.child.kill('SIGKILL'));
  const url = await serviceUrl(node);
  const credentials = await readFile(path.join(env['DATA_DIR'] ?? '', 'demo-channel.json'), 'utf8');
  const client = channelClient(url, JSON.parse(credentials));
  const orders: string[] = [];
  for (const request of [collectRequest, sharedRequest]) {
    const reply = await client.call('orders/create', request(client));
    expect(reply.code).toBe('0');
    orders.push(reply.data.orderNo);
  }
  return { node, client, orders };
}

const query = async (client: ChannelClient, orderNo: string) => {
  const { redeemUrl: _, ...data } = (await client.call('orders/query', { orderNo })).data;
  return data;
};

/** The folder with the programs of the installed PostgreSQL. pg_dump may refuse a server of a different version. */
const bin = path.dirname(process.env['INITDB'] ?? '');

it('pg_dump beside a running node, and pg_restore elsewhere: all is there', async () => {
  const server = await openOwnServer(bin);
  onTestFinished(() => server.release());
  const admin = openDatabase({ url: server.url, pool: 1, name: 'test', statementMs: 0 });
  onTestFinished(() => admin.close());
  for (const name of ['original', 'restored']) await admin.query(`create database ${name}`);
  const [original, restored] = [
    { url: databaseUrl(server.url, 'original') },
    { url: databaseUrl(server.url, 'restored') },
  ];
  const { node, orders } = await startWithOrders(on(original));
  const file = path.join(folder, 'perennial.dump');
  await run(path.join(bin, 'pg_dump'), ['-Fc', '-f', file, original.url]);
  await stop(node);
  await run(path.join(bin, 'pg_restore'), ['--no-owner', '--exit-on-error', '-d', restored.url, file]);

  const check = await perennial(['restore-check'], on(restored));
  expect(check.stdout).toMatch(
    /\nOK: no problem found, continue with the next step of the restore; nodes wait for: perennial installation adopt\n$/,
  );
  for (const orderNo of orders) {
    const show = async (where: { readonly url: string }) =>
      JSON.parse((await perennial(['order', 'show', orderNo, '--json'], on(where))).stdout);
    expect(await show(restored)).toEqual(await show(original));
  }
  // The command skips far beyond the numbers that the original database may have assigned after the backup.
  expect((await perennial(['numbers', 'skip'], on(restored))).code).toBe(0);
  const database = openDatabase({ url: restored.url, pool: 1, name: 'test', statementMs: 0 });
  onTestFinished(() => database.close());
  const [next] = await database.query<{ no: number }>(`select nextval('order_numbers') as no`);
  expect(next?.no).toBeGreaterThan(Math.max(...orders.map(Number)) + 9_000_000);
}, 180_000);

it('a copy of the data folder of a stopped service is served like the original', async () => {
  const dataDir = await preparedDataDir();
  const copied = await mkdtemp(path.join(os.tmpdir(), 'perennial-cold-'));
  onTestFinished(async () => {
    for (const one of [dataDir, copied]) await rm(one, { recursive: true, force: true });
  });
  const { node, client, orders } = await startWithOrders({ DATA_DIR: dataDir, PORT: '0' });
  const before = await Promise.all(orders.map((orderNo) => query(client, orderNo)));
  await stop(node);
  copyFolder(dataDir, copied);
  const copy = start(MAIN, { DATA_DIR: copied, PORT: '0', ENGINE: 'off' });
  onTestFinished(() => void copy.child.kill('SIGKILL'));
  const reader = channelClient(await serviceUrl(copy), client.credentials);
  expect(await Promise.all(orders.map((orderNo) => query(reader, orderNo)))).toEqual(before);
  await stop(copy);
});

describe('restore-check', () => {
  let target: FreshDatabase;
  beforeEach(async () => {
    target = await freshDatabase();
  });
  afterEach(() => target.close());
  const check = (...more: string[]) => perennial(['restore-check', ...more], on(target));

  it('of a database without a schema: NOT OK, and makes none', async () => {
    await target.close();
    target = await freshDatabase({ migrated: false });
    expect(await check()).toMatchObject({ code: 1, stdout: 'NOT OK: there is nothing in this database\n' });
    expect(JSON.parse((await check('--json')).stdout).problems).toEqual(['there is nothing in this database']);
    expect(await dump(target.database)).toBe('');
  });

  it('of an installation that nothing was done with: NOT OK', async () => {
    expect((await perennial(['migrate'], on(target))).code).toBe(0);
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\nNOT OK: there is nothing in this/),
    });
  });

  it('without a master key: makes none', async () => {
    const data = path.join(folder, 'no-key');
    const ran = await perennial(['restore-check'], { DATABASE_URL: target.url, DATA_DIR: data });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no master key in') });
    expect(await readdir(folder)).not.toContain('no-key');
  });

  it('beside tables of others in the same schema that the service may not read: looks at its own', async () => {
    const role = `test_${randomBytes(6).toString('hex')}`;
    const shared = await freshDatabase({ migrated: false });
    await shared.database.query(`create role ${role} login password 'test'`);
    onTestFinished(async () => {
      await shared.database.query(`drop owned by ${role}`);
      await shared.database.query(`drop role ${role}`);
      await shared.close();
    });
    await shared.database.query(`grant create on schema public to ${role}`);
    const { href } = Object.assign(new URL(shared.url), { username: role, password: 'test' });
    const made = await perennial(['channel', 'create', '--name', 'Kept', '--app-id', 'test_kept'], on({ url: href }));
    expect(made.code, made.stderr).toBe(0);
    await shared.database.query('create table dba_notes (id bigint generated always as identity primary key)');
    expect((await perennial(['restore-check'], on({ url: href }))).code).toBe(0);
  });

  it('tells what would be done, in the order of the list, and what stands in the way', async () => {
    const { node } = await startWithOrders(on(target));
    await stop(node);
    const { database } = target;
    await database.query(`update orders set next_due_at = now() - interval '2 days'`);
    await database.query('update agreements set cancel_at = now()');
    for (const setting of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']) {
      await database.query(
        `do $$ begin execute format('alter database %I set ${setting} = 0', current_database()); end $$`,
      );
    }
    const [counts] = await database.query<{ cent: number; events: number }>(
      `select sum(amount_cent)::bigint as cent, (select count(*) from due_events) as events
       from orders where settlement_mode = 'SVC_DEDUCT'`,
    );
    const report = JSON.parse((await check('--json')).stdout);
    expect(report.problems).toEqual([]);
    const due = { count: 1, oldest: expect.any(String), amountCent: expect.any(Number) };
    expect(report.waiting).toEqual([
      { what: 'renewals to debit', ...due, amountCent: counts?.cent },
      { what: 'of these, overdue for more than a day', ...due, amountCent: counts?.cent },
      { what: 'periods to bill', ...due },
      { what: 'of these, overdue for more than a day', ...due },
      expect.objectContaining({ what: 'debits without a result' }),
      expect.objectContaining({ what: 'refunds without a result' }),
      expect.objectContaining({ what: 'claims without a code' }),
      { what: 'agreements to cancel', ...due, amountCent: null },
      expect.objectContaining({ what: 'requests without an answer' }),
      expect.objectContaining({ what: 'events to send', count: counts?.events }),
      expect.objectContaining({ what: 'alert messages to send' }),
    ]);

    await database.query(`select setval('event_numbers', 1)`);
    await database.query(`update channels set data_key = 'ffffffff.' || split_part(data_key, '.', 2)`);
    const ran = await check();
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^event_numbers +2 +\d+$/m);
    expect(ran.stdout.trim().split('\n').at(-1)).toMatch(
      /^NOT OK: .*event_numbers.*; not every key opens with this master key/,
    );
  });

  it('numbers skip counts from what the rows hold, though sequences are behind, also that of the audit log', async () => {
    const { database } = target;
    const made = await perennial(['channel', 'create', '--name', 'Kept', '--app-id', 'test_kept'], on(target));
    expect(made.code, made.stderr).toBe(0);
    await database.query(
      `insert into events (event_no, channel_id, order_no, event_type, occurred_at, data)
       values (5000000, 1, 1, 'order.status.changed', now(), '{}')`,
    );
    await database.query('alter sequence event_numbers restart');
    await database.query('alter sequence audit_log_audit_id_seq restart');
    const ran = await perennial(['numbers', 'skip'], on(target));
    expect(ran.code, ran.stderr).toBe(0);
    for (const name of ['event_numbers', 'audit_log_audit_id_seq']) {
      expect(ran.stdout).toContain(`The sequence ${name} was behind the numbers that are used, and is above them now.`);
    }
    expect(ran.stdout).toMatch(/^event_numbers +5000000 +15000000$/m);
    expect(await database.query(`select nextval('event_numbers') as next`)).toEqual([{ next: 15_000_001 }]);
    const [audit] = await database.query<{ action: string }>(
      'select action from audit_log order by audit_id desc limit 1',
    );
    expect(audit?.action).toBe('numbers.skip');
  });
});
