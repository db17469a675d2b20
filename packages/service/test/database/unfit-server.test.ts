import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { send } from '../support/channel-client.js';
import { installation } from '../support/installation.js';
import { until } from '../support/processes.js';
import { anotherNode } from '../support/second-node.js';
import { testService } from '../support/service.js';

const fresh = ofEachTest(() => installation({ migrated: false }));

const nameOf = (url: string) => new URL(url).pathname.slice(1);
const setReadOnly = (database: Database, url: string, value: 'on' | 'off') =>
  database.transaction(async (tx) => {
    await tx.query('set transaction read write');
    await tx.query(`alter database ${nameOf(url)} set default_transaction_read_only = ${value}`);
  });

/** Opens the database like a node. */
const open = (url: string, log: (line: string) => void = () => undefined) =>
  openDatabaseFromSettings(readSettings({ DATABASE_URL: url, DATA_DIR: fresh.env.DATA_DIR }), { role: 'service', log });

describe('a node', () => {
  it('waits for a read-only server, and logs it', async () => {
    await setReadOnly(fresh.database, fresh.url, 'on');
    const lines: string[] = [];
    let writable: Promise<void> | undefined;
    const opened = await open(fresh.url, (line) => {
      lines.push(line);
      writable ??= setReadOnly(fresh.database, fresh.url, 'off');
    });
    await opened.close();
    await writable;
    expect(lines[0]).toBe(
      'the database of DATABASE_URL cannot be reached (it is read-only: a standby, or default_transaction_read_only is on); retrying in 1 s',
    );
  });

  it('refuses a database of another encoding', async () => {
    const name = `${nameOf(fresh.url)}_latin`;
    await fresh.database.query(`create database ${name} template template0 encoding 'LATIN1' locale 'C'`);
    onTestFinished(async () => {
      const admin = openDatabase({ url: fresh.url.replace(nameOf(fresh.url), 'postgres'), pool: 1, name: 'test' });
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.close();
    });
    const url = Object.assign(new URL(fresh.url), { pathname: `/${name}` }).href;
    await expect(open(url)).rejects.toThrow(/^DATABASE_URL: the database has the encoding LATIN1; UTF8 is needed$/);
  });

  it('reports in one line that its role may not create a schema', async () => {
    const role = `r${nameOf(fresh.url)}`;
    await fresh.database.query(`create role ${role} login password 'secret-of-the-role'`);
    onTestFinished(async () => {
      const admin = openDatabase({ url: fresh.url.replace(nameOf(fresh.url), 'postgres'), pool: 1, name: 'test' });
      await admin.query(`drop role ${role}`);
      await admin.close();
    });
    const url = Object.assign(new URL(fresh.url), { username: role, password: 'secret-of-the-role' }).href;
    await expect(open(url)).rejects.toThrow(
      /^the role of DATABASE_URL may not change the schema: run perennial migrate with the role that owns the tables$/,
    );
  });

  it('reports in one line that no schema of the search_path exists', async () => {
    await expect(open(`${fresh.url}?options=-c%20search_path%3Dperennial`)).rejects.toThrow(
      /^DATABASE_URL: no schema of the search_path exists$/,
    );
  });
});

describe('synchronous_commit', () => {
  const production = (url: string) =>
    readSettings({
      SVC_ENVIRONMENT: 'production',
      DATABASE_URL: url,
      DATA_DIR: fresh.env.DATA_DIR,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      MIGRATE: 'auto',
    });
  const setForDatabase = (value: string) =>
    fresh.database.query(`alter database ${nameOf(fresh.url)} set synchronous_commit = ${value}`);
  const current = async (database: Database) => database.query(`select current_setting('synchronous_commit') as is`);

  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['on', 'on'],
    ['remote_write', 'remote_write'],
    ['remote_apply', 'remote_apply'],
  ])('if the server has %s, each connection has %s', async (said, is) => {
    await setForDatabase(said);
    const database = openDatabase({ url: fresh.url, pool: 2, name: 'test' });
    onTestFinished(() => database.close());
    // Two concurrent statements use two connections, so both connections are checked.
    expect(await Promise.all([current(database), current(database)])).toEqual([[{ is }], [{ is }]]);
  });

  it('off stops the start of a production node, with one line that says what to do', async () => {
    await setForDatabase('off');
    const opening = () => openDatabaseFromSettings(production(fresh.url), { role: 'service', log: () => undefined });
    await expect(opening()).rejects.toThrow(
      /^DATABASE_URL: synchronous_commit is off for the server, the database or the role, so a crash could lose answered requests: set it to on, remote_write or remote_apply$/,
    );
    await setForDatabase('on');
    await (await opening()).close();
  });

  it('DATABASE_URL may set a stronger value than on, but not a weaker one', async () => {
    const withOption = (value: string) => `${fresh.url}?options=-c%20synchronous_commit%3D${value}`;
    const opened = await open(withOption('remote_apply'));
    onTestFinished(() => opened.close());
    expect(await current(opened.database)).toEqual([{ is: 'remote_apply' }]);
    for (const value of ['off', 'local', 'false']) {
      await expect(open(withOption(value))).rejects.toThrow(
        /^DATABASE_URL: synchronous_commit in options must be on, remote_write or remote_apply$/,
      );
    }
  });
});

it('a node whose server becomes read-only is not ready until it accepts writes again', async () => {
  const service = await testService();
  onTestFinished(() => service.close());
  const { database, url } = service.fresh;
  const far = openDatabase({ url, pool: 2, name: 'read-only node' });
  const node = await anotherNode(service, { database: far });
  onTestFinished(async () => {
    await node.close();
    await far.close();
  });
  const ready = async () => (await send(node.baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status;
  expect(await ready()).toBe(200);
  const endSessions = () =>
    database.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'read-only node'
      and datname = current_database()`);
  await setReadOnly(database, url, 'on');
  await endSessions();
  await until('not ready', async () => (await ready()) === 503);
  expect(await ready()).toBe(503);
  // Existing connections stay read-only, so the node has to open new ones.
  await setReadOnly(database, url, 'off');
  await until('ready', async () => (await ready()) === 200);
});
