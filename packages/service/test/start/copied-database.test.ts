import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Database, LONG_STATEMENT_MS, openDatabase } from '../../src/platform/db/database.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { perennial } from '../cli/perennial.js';
import { ofFile } from '../orders/stage-of-file.js';
import { channelClient } from '../support/channel-client.js';
import { freshDatabase } from '../support/database.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { installation } from '../support/installation.js';
import { type Running, serviceUrl, until } from '../support/processes.js';

/** Tests an installation with orders that are due, and a copy of its database beside it. */
const original = ofFile(installation);
let copy: { readonly url: string; readonly database: Database };
let admin: Database;
let orderNo: string;

const on = ({ url }: { readonly url: string }, more: Record<string, string> = {}) => ({
  ...original.env,
  DATABASE_URL: url,
  ...more,
});

async function stop(node: Running): Promise<void> {
  node.child.kill('SIGTERM');
  expect(await node.exited).toBe(0);
}

beforeAll(async () => {
  const node = original.node();
  const client = channelClient(await serviceUrl(node), await original.demo());
  expect((await client.call('orders/create', collectRequest(client))).code).toBe('0');
  const created = await client.call('orders/create', sharedRequest(client));
  expect(created.code).toBe('0');
  ({ orderNo } = created.data);
  await stop(node);
  await original.database.query(`update orders set next_due_at = now() - interval '1 minute'`);

  const name = `${new URL(original.url).pathname.slice(1)}_copy`;
  const elsewhere = Object.assign(new URL(original.url), { pathname: '/postgres' }).href;
  admin = openDatabase({ url: elsewhere, pool: 1, name: 'test', statementMs: 0 });
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name.replace(/_copy$/, '')}'`,
  );
  await admin.query(`create database ${name} template ${name.replace(/_copy$/, '')}`);
  const copyUrl = Object.assign(new URL(original.url), { pathname: `/${name}` }).href;
  copy = {
    url: copyUrl,
    database: openDatabase({ url: copyUrl, pool: 2, name: 'test', statementMs: LONG_STATEMENT_MS }),
  };
});
afterAll(async () => {
  await copy.database.close();
  await admin.query(`drop database ${new URL(copy.url).pathname.slice(1)} with (force)`);
  await admin.close();
});

interface Done {
  readonly periods: number;
  readonly debits: number;
  readonly events: number;
  readonly sending: number;
}
async function whatWasDone(): Promise<Done> {
  const [row] = await copy.database.query<Done>(
    `select (select count(*) from payments) as periods, (select count(*) from debit_attempts) as debits,
       (select count(*) from events) as events, (select count(*) from delivery_shards where owner is not null) as sending`,
  );
  if (!row) throw new Error('a select of one row has one');
  return row;
}

const WHY =
  'this database is a copy, or was moved to another server: nothing is debited, billed or sent until an operator runs perennial installation adopt';

describe('a node on a copy', () => {
  it('does nothing and is not ready until an operator adopts the copy, and logs why; then it serves', async () => {
    const before = await whatWasDone();
    const port = await freePort();
    const node = original.node(on(copy, { PORT: String(port) }));
    const waiting = () =>
      node
        .stdout()
        .split('\n')
        .filter((line) => line.includes('waiting; not serving yet'));
    await until('a node that waits, or serves', () => {
      if (node.child.exitCode !== null) throw new Error(`the node ended: ${node.stderr()}`);
      return waiting().length > 0 || node.stderr().includes('Perennial is ready');
    });
    expect(node.stderr()).not.toContain('Perennial is ready');
    expect(node.stderr()).toContain(WHY);
    expect(JSON.parse(waiting()[0] ?? '{}')).toMatchObject({ level: 'warn', cause: WHY });
    const readiness = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { status: answer.status, body: await answer.json() };
    };
    expect(await readiness()).toMatchObject({ status: 503, body: { code: '503001', message: WHY } });
    expect(await whatWasDone()).toEqual(before);

    const check = await perennial(['restore-check'], on(copy));
    expect(check.code, check.stderr).toBe(0);
    expect(check.stdout).toMatch(
      /\nOK: no problem found, continue with the next step of the restore; nodes wait for: perennial installation adopt\n$/,
    );
    expect(JSON.parse((await perennial(['restore-check', '--json'], on(copy))).stdout)).toMatchObject({
      needsAdoption: true,
      problems: [],
    });
    for (const args of [
      ['order', 'refund', orderNo, '1'],
      ['events', 'replay', 'test_demo', '--given-up'],
      ['order', 'unsubscribe', orderNo],
    ]) {
      expect(await perennial(args, on(copy)), args.join(' ')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(WHY),
      });
    }
    expect(await whatWasDone()).toEqual(before);

    const adopted = await perennial(['installation', 'adopt'], on(copy));
    expect(adopted.code, adopted.stderr).toBe(0);
    expect(adopted.stdout).toMatch(/^This database is the installation now/);
    expect(await serviceUrl(node)).toBe(`http://127.0.0.1:${port}`);
    expect(await readiness()).toMatchObject({ status: 200 });
    await until('the periods that were due', async () => (await whatWasDone()).periods === 4);
    await stop(node);

    const again = await perennial(['installation', 'adopt', '--json'], on(copy));
    expect(JSON.parse(again.stdout)).toMatchObject({ adopted: false });
    expect(await copy.database.query(`select count(*) from audit_log where action = 'installation.adopt'`)).toEqual([
      { count: 1 },
    ]);
  });

  it('serves reads with ENGINE=off, without adopting the copy', async () => {
    await copy.database.query(`update installation set database_identity = '1/1'`);
    const node = original.node(on(copy, { ENGINE: 'off' }));
    await serviceUrl(node);
    await stop(node);
    expect(await copy.database.query('select database_identity as is from installation')).toEqual([{ is: '1/1' }]);
  });
});

describe('a node on the original', () => {
  it('serves, also after a restart', async () => {
    const node = original.node();
    await serviceUrl(node);
    await stop(node);
    const check = JSON.parse((await perennial(['restore-check', '--json'], on(original))).stdout);
    expect(check).toMatchObject({ needsAdoption: false });
  });

  it('without a stored identity, as after an upgrade, stores the current one', async () => {
    const identity = () => original.database.query('select database_identity as is from installation');
    const before = await identity();
    expect(before).toEqual([{ is: expect.stringMatching(/^\d+\/\d+$/) }]);
    await original.database.query('update installation set database_identity = null');
    const settings = readSettings(on(original));
    await (await openDatabaseFromSettings(settings, { role: 'tool', log: () => undefined })).close();
    expect(await identity()).toEqual([{ is: null }]);
    await (await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined })).close();
    expect(await identity()).toEqual(before);
  });
});

it('a role that may not read the identifier of the server gets a warning, and the node serves', async () => {
  const fresh = await freshDatabase({ migrated: false });
  const role = `test_${randomBytes(6).toString('hex')}`;
  await fresh.database.query(`create role ${role} login password 'test'`);
  onTestFinished(async () => {
    await fresh.database.query(`drop owned by ${role}`);
    await fresh.database.query(`drop role ${role}`);
    await fresh.close();
  });
  await fresh.database.query(`grant create on schema public to ${role}`);
  await fresh.database.query('revoke execute on function pg_control_system() from public');
  const url = Object.assign(new URL(fresh.url), { username: role, password: 'test' }).href;
  const lines: string[] = [];
  const open = () =>
    openDatabaseFromSettings(readSettings(on({ url })), { role: 'service', log: (line) => lines.push(line) });
  await (await open()).close();
  expect(lines).toContain(
    `Warning: copies of this database cannot be recognized: grant execute on function pg_control_system() to ${role}`,
  );
  // With the privilege, the node stores the database's identity and starts.
  await fresh.database.query(`grant execute on function pg_control_system() to ${role}`);
  await (await open()).close();
  expect(await fresh.database.query('select database_identity as is from installation')).toEqual([
    { is: expect.stringMatching(/^\d+\/\d+$/) },
  ]);
  // If the privilege is revoked later, the node reports the missing privilege, not a copy.
  await fresh.database.query(`revoke execute on function pg_control_system() from ${role}`);
  const waited = new AbortController();
  const waits: string[] = [];
  const waiting = openDatabaseFromSettings(readSettings(on({ url })), {
    role: 'service',
    log: () => undefined,
    signal: waited.signal,
    onWaiting: (what) => {
      waits.push(what);
      waited.abort();
    },
  });
  await expect(waiting).rejects.toThrow();
  expect(waits).toEqual([expect.stringContaining('cannot tell whether this database is a copy: grant execute')]);
  expect(await perennial(['installation', 'adopt'], on({ url }))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('grant execute on function pg_control_system()'),
  });
});
