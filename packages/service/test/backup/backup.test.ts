import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBackup } from '../../src/platform/copies/backup.js';
import { openDatabase } from '../../src/platform/db/database.js';
import { shanghaiText } from '../../src/platform/db/time-sql.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { readSettings } from '../../src/platform/settings.js';
import { perennial, perennialProcess } from '../cli/perennial.js';
import { dump } from '../operator/support.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { MAIN, type Running, serviceUrl, start, until } from '../support/processes.js';

/** A service on its embedded database, copied while it is busy, and put back into a folder that was not there. */
let folder: string;
let dataDir: string;
let file: string;
let node: Running;
let client: ChannelClient;
/** Acknowledged before the backup began. */
const acknowledged: { orderNo: string; redeemUrl: string }[] = [];
let during = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-backup-'));
  dataDir = await preparedDataDir();
  file = path.join(folder, 'backup.gz');
  node = start(MAIN, { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' });
  const baseUrl = await serviceUrl(node);
  client = channelClient(baseUrl, JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8')));
  await perennial(['channel', 'set-limits', 'test_demo', '--rate', '100000'], { DATA_DIR: dataDir });
  const create = async () => {
    const request = acknowledged.length % 2 === 0 ? collectRequest(client) : sharedRequest(client);
    // What a text may hold, it holds: lines, quotes, backslashes, commas, and no text at all.
    const odd = { channelAgreementRef: 'a,"b"\\c\n{d}\u2028\u00e4 (e)' };
    const reply = await client.call('orders/create', acknowledged.length % 2 === 0 ? { ...request, ...odd } : request);
    if (reply.code !== '0') throw new Error(`orders/create answered ${reply.text}`);
    return { orderNo: String(reply.data.orderNo), redeemUrl: String(reply.data.redeemUrl) };
  };
  for (let n = 0; n < 20; n += 1) acknowledged.push(await create());

  let busy = true;
  const load = Promise.all(
    Array.from({ length: 2 }, async () => {
      while (busy) {
        await create();
        during += 1;
      }
    }),
  );
  const made = await perennialProcess(['backup', file], { DATA_DIR: dataDir });
  busy = false;
  await load;
  expect(made.code, made.stderr).toBe(0);
  expect(made.stdout).toMatch(/The master key [0-9a-f]{8} is not in the file/);
  expect(made.stdout).toContain(path.join(dataDir, 'master-key'));
});
afterAll(async () => {
  node.child.kill('SIGTERM');
  await node.exited;
  for (const one of [folder, dataDir]) await rm(one, { recursive: true, force: true });
});

const contents = async () => gunzipSync(await readFile(file)).toString();

describe('a backup', () => {
  it('is made while the service works, and is read by its owner alone', async () => {
    expect(during).toBeGreaterThan(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('does not hold the master key', async () => {
    const key = (await readFile(path.join(dataDir, 'master-key'), 'utf8')).trim();
    const text = await contents();
    expect(text).not.toContain(key);
    expect(text).not.toContain(Buffer.from(key, 'base64').toString('hex'));
  });

  it('is not written over another file', async () => {
    const ran = await perennial(['backup', file], { DATA_DIR: dataDir });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already') });
  });
});

describe('a restore', () => {
  it('without the master key: says which one is needed and where, and makes neither key nor database', async () => {
    const empty = path.join(folder, 'without-key');
    const ran = await perennialProcess(['restore', file], { DATA_DIR: empty });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/needs the master key [0-9a-f]{8}, which is not in it/);
    await expect(stat(empty)).rejects.toThrow('ENOENT');
  });

  it('with another master key, or for another environment: changes nothing', async () => {
    const fresh = await freshDatabase({ migrated: false });
    const key = Buffer.alloc(32, 1).toString('base64');
    const env = { DATABASE_URL: fresh.url, MASTER_KEY: key };
    expect(await perennial(['restore', file], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/needs the master key [0-9a-f]{8}; the setting MASTER_KEY holds/),
    });
    expect(await perennial(['restore', file], { ...env, SVC_ENVIRONMENT: 'production' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the backup is of the sandbox environment'),
    });
    expect(await dump(fresh.database)).toBe('');
    await fresh.close();
  });

  it('into the folder of a running service: refused', async () => {
    expect(await perennialProcess(['restore', file], { DATA_DIR: dataDir })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in use by another service'),
    });
  });

  it('into an empty folder: everything that was acknowledged is there, goes on, and is not restored over', async () => {
    const restored = path.join(folder, 'restored');
    await mkdir(restored, { mode: 0o700 });
    await copyFile(path.join(dataDir, 'master-key'), path.join(restored, 'master-key'));
    const env = { DATA_DIR: restored, PORT: '0', LOG_LEVEL: 'warn' };
    const ran = await perennialProcess(['restore', file], env);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toContain('restore-check');

    const checked = await perennial(['restore-check'], env);
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toMatch(/\nOK: the engine may be switched on, after: perennial installation adopt\n$/);

    const second = await perennial(['restore', file], env);
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('say --replace and lose it') });

    const copy = start(MAIN, { ...env, ENGINE: 'off' });
    try {
      const baseUrl = await serviceUrl(copy);
      const reader = channelClient(baseUrl, client.credentials);
      for (const { orderNo } of acknowledged) {
        const [there, here] = await Promise.all([
          client.call('orders/query', { orderNo }),
          reader.call('orders/query', { orderNo }),
        ]);
        const { redeemUrl: _there, ...before } = there.data;
        const { redeemUrl: _here, ...after } = here.data;
        expect(after).toEqual(before);
      }
      const [{ redeemUrl } = { redeemUrl: '' }] = acknowledged;
      const page = await fetch(redeemUrl.replace(/^https?:\/\/[^/]+/, baseUrl));
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('VIP');
    } finally {
      copy.child.kill('SIGTERM');
      await copy.exited;
    }

    const on = start(MAIN, env);
    try {
      await until('a node that waits', () =>
        on.stderr().includes('until an operator has run perennial installation adopt'),
      );
      expect((await perennial(['installation', 'adopt'], env)).code).toBe(0);
      const writer = channelClient(await serviceUrl(on), client.credentials);
      const created = await writer.call('orders/create', sharedRequest(writer));
      expect(created.code).toBe('0');
      // Far beyond whatever the copied service has given out since, there and at its institutions.
      const last = Math.max(...acknowledged.map(({ orderNo }) => Number(orderNo)));
      expect(Number(created.data.orderNo)).toBeGreaterThan(last + 9_000_000);
    } finally {
      on.child.kill('SIGTERM');
      await on.exited;
    }
  });

  it('into a database of one’s own: every row of every table is as it was, and weeks are where they were', async () => {
    const key = (await readFile(path.join(dataDir, 'master-key'), 'utf8')).trim();
    const source = await freshDatabase();
    const target = await freshDatabase({ migrated: false });
    const env = (url: string) => ({ DATABASE_URL: url, MASTER_KEY: key });
    const ran = await perennial(['restore', file, '--json'], env(source.url));
    expect(ran.code, ran.stderr).toBe(0);
    const again = path.join(folder, 'again.gz');
    // A week that nobody would make, and what is in it.
    await source.database.query(
      `create table events_long_ago partition of events for values from ('2020-01-01') to ('2020-01-08')`,
    );
    await source.database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
       values (1, 1, 'order.status.changed', now(), '{}', '2020-01-02')`,
    );
    expect((await perennial(['backup', again], env(source.url))).code).toBe(0);
    expect((await perennial(['restore', again], env(target.url))).code).toBe(0);
    const [audit] = await target.database.query<{ action: string }>(
      'select action from audit_log order by audit_id desc limit 1',
    );
    expect(audit?.action).toBe('restore');
    // Each has its own migrations, and its own restore in the audit log. That there is a backup is stored after it was made.
    for (const { database } of [source, target]) {
      await database.query(`delete from audit_log where action = 'restore'`);
      await database.query('truncate audit_head, backups');
      await database.query('drop table schema_migrations');
    }
    expect(await dump(target.database)).toBe(await dump(source.database));
    expect(await target.database.query('select count(*) as rows from events_long_ago')).toEqual([{ rows: 1 }]);
    await source.close();
    await target.close();
  });

  it('of a file that is cut off, changed or none at all: says so and changes nothing', async () => {
    const key = (await readFile(path.join(dataDir, 'master-key'), 'utf8')).trim();
    const fresh = await freshDatabase({ migrated: false });
    const env = { DATABASE_URL: fresh.url, MASTER_KEY: key };
    const lines = (await contents()).split('\n');
    const row = lines.findIndex((line) => line.startsWith('"'));
    const sum = lines.findIndex((line) => line.startsWith('{"end":"channels"'));
    const bad = path.join(folder, 'bad.gz');
    for (const [bytes, said] of [
      [(await readFile(file)).subarray(0, -100), 'cannot be unpacked'],
      [gzipSync(lines.slice(0, -3).join('\n')), 'is broken'],
      [gzipSync(lines.toSpliced(row, 1).join('\n')), 'is broken'],
      [
        gzipSync(lines.with(sum, (lines[sum] ?? '').replace(/"sha256":"..../, '"sha256":"0000')).join('\n')),
        'is broken',
      ],
      [Buffer.from('something else'), 'cannot be unpacked'],
      [gzipSync('{"something":"else"}\n'), 'not a file that perennial backup has written'],
    ] as const) {
      await writeFile(bad, bytes);
      const ran = await perennial(['restore', bad], env);
      expect(ran.code, said).toBe(1);
      expect(ran.stderr).toContain(said);
      const [state] = await fresh.database.query<{ rows: number | null }>(
        `select case when to_regclass('installation') is null then 0
           else (xpath('/row/n/text()', query_to_xml('select count(*) as n from installation', false, true, '')))[1]::text::int
           end as rows`,
      );
      expect(state?.rows).toBe(0);
    }
    expect((await perennial(['restore', path.join(folder, 'nothing.gz')], env)).stderr).toContain('there is no file');
    // And the right one still can be restored there.
    expect((await perennial(['restore', file], env)).code).toBe(0);
    await fresh.close();
  });

  it('--replace: over data that is there, all or nothing, and not under running nodes', async () => {
    const key = (await readFile(path.join(dataDir, 'master-key'), 'utf8')).trim();
    const fresh = await freshDatabase();
    const env = { DATABASE_URL: fresh.url, MASTER_KEY: key };
    const opened = await openDatabaseFromSettings(readSettings(env), { role: 'tool', log: () => undefined });
    await opened.close();
    expect((await perennial(['channel', 'create', '--name', 'Lost', '--app-id', 'test_lost'], env)).code).toBe(0);
    const node = openDatabase({ url: fresh.url, pool: 1, name: 'perennial service' });
    await node.query('select 1');
    expect(await perennial(['restore', file, '--replace'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nodes are running'),
    });
    await node.close();
    const ran = await perennial(['restore', file, '--replace'], env);
    expect(ran.code, ran.stderr).toBe(0);
    const list = await perennial(['channel', 'list', '--json'], env);
    expect(JSON.parse(list.stdout).items.map(({ appId }: { appId: string }) => appId)).toEqual(['test_demo']);
    await fresh.close();
  });
});

describe('restore-check', () => {
  let fresh: FreshDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    const key = (await readFile(path.join(dataDir, 'master-key'), 'utf8')).trim();
    fresh = await freshDatabase();
    env = { DATABASE_URL: fresh.url, MASTER_KEY: key };
    expect((await perennial(['restore', file], env)).code).toBe(0);
  });
  afterAll(() => fresh.close());

  it('after it, numbers skip: what is made from then on is called like nothing that was lost', async () => {
    const next = async () =>
      (await fresh.database.query<{ n: number }>(`select nextval('order_numbers') as n`))[0]?.n ?? 0;
    const before = await next();
    expect((await perennial(['numbers', 'skip'], env)).code).toBe(0);
    expect(await next()).toBe(before + 10_001_000);
  });

  it('a backup is of the moment that it has, also when it has waited for a table', async () => {
    const key = Buffer.from(env['MASTER_KEY'] ?? '', 'base64');
    const second = async () =>
      (await fresh.database.query<{ at: string }>(`select ${shanghaiText('now()')} as at`))[0]?.at ?? '';
    const waits = () =>
      fresh.database.query(`select from pg_locks where not granted and relation = 'orders'::regclass`);
    let begun = '';
    let made: ReturnType<typeof writeBackup> | undefined;
    await fresh.database.transaction(async (tx) => {
      await tx.query('lock table orders in access exclusive mode');
      made = writeBackup(fresh.database, openVault([key]), async () => undefined);
      await until('it waits', async () => (await waits()).length === 1);
      begun = await second();
      await until('the next second', async () => (await second()) > begun);
    });
    expect(((await made)?.takenAt ?? '') > begun).toBe(true);
  });

  it('tells what would be done, and what stands in the way', async () => {
    await fresh.database.query(
      `update orders set next_due_at = now() - interval '2 days' where settlement_mode = 'SVC_DEDUCT'`,
    );
    await fresh.database.query(
      `update agreements set cancel_at = now() where agreement_id = (select min(agreement_id) from agreements)`,
    );
    const [counts] = await fresh.database.query<{ due: number; cent: number; events: number }>(
      `select count(*) as due, sum(amount_cent)::bigint as cent, (select count(*) from due_events) as events
       from orders where settlement_mode = 'SVC_DEDUCT'`,
    );
    const { takenAt } = JSON.parse((await contents()).split('\n', 1)[0] ?? '');
    const report = JSON.parse((await perennial(['restore-check', '--json'], env)).stdout);
    expect(report.problems).toEqual([]);
    // Of the service, not of the restore.
    expect(report.lastWriteAt <= takenAt).toBe(true);
    expect(report.waiting).toEqual(
      expect.arrayContaining([
        { what: 'renewals to debit', count: counts?.due, oldest: expect.any(String), amountCent: counts?.cent },
        {
          what: 'of these, overdue for more than a day',
          count: counts?.due,
          oldest: expect.any(String),
          amountCent: counts?.cent,
        },
        { what: 'agreements to cancel', count: 1, oldest: expect.any(String), amountCent: null },
        expect.objectContaining({ what: 'events to send', count: counts?.events }),
      ]),
    );

    await fresh.database.query(`select setval('event_numbers', 1), setval('order_numbers', 100000001000)`);
    await fresh.database.query(`update channels set data_key = 'ffffffff.' || split_part(data_key, '.', 2)`);
    const ran = await perennial(['restore-check'], env);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^event_numbers +2 +\d+$/m);
    expect(ran.stdout.trim().split('\n').at(-1)).toMatch(
      /^NOT OK: .*event_numbers.*; not every key opens with this master key/,
    );
  });
});
