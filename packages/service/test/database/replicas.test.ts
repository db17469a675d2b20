import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedDatabase, openEmbedded } from '@perennial/embedded-postgres';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { until } from '../support/processes.js';

/** Tests a primary whose commits wait for a replica that is missing. */
let folder: string;
let server: EmbeddedDatabase;
let admin: Database;
let database: Database;
let trials: Database;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-replicas-'));
  server = await openEmbedded({ dataDir: folder, role: 'tool', log: () => undefined });
  admin = openDatabase({ url: server.url, pool: 1, name: 'test' });
  await admin.query('create table kept (what text primary key)');
  await admin.query('create table trials (at timestamptz default now())');
  database = openDatabase({ url: server.url, pool: 2, name: 'waiting', statementMs: 500 });
  trials = openDatabase({ url: server.url, pool: 1, name: 'trials', statementMs: 300 });
});
afterAll(async () => {
  await trials.close();
  await database.close();
  await admin.close();
  await server.release();
  await rm(folder, { recursive: true, force: true });
});

/** Sets the replicas that commits wait for. Polls, because the checkpointer applies the setting with a delay. */
async function replicas(names: string): Promise<void> {
  await admin.query(`alter system set synchronous_standby_names = '${names}'`);
  await admin.query('select pg_reload_conf()');
  await until('the setting', async () => {
    const isConfirmed = await trials.query('insert into trials default values').then(
      () => true,
      () => false,
    );
    return isConfirmed === (names === '');
  });
}
afterEach(() => replicas(''));

const waiting = () =>
  admin.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'waiting' and wait_event = 'SyncRep'`,
  );

it.each<[string, (what: string) => Promise<unknown>]>([
  ['a statement', (what) => database.query('insert into kept values ($1)', [what])],
  ['a transaction', (what) => database.transaction((tx) => tx.query('insert into kept values ($1)', [what]))],
])('%s whose commit is not confirmed in time is given up, and no process keeps waiting for it', async (what, write) => {
  await replicas('nobody');
  await expect(write(what)).rejects.toThrow('database unavailable');
  await until('no process that waits', async () => (await waiting()).length === 0);
  expect(await database.query('select what from kept where what = $1', [what])).toEqual([{ what }]);
  await replicas('');
  await expect(write(what)).rejects.toThrow('duplicate key');
});

it('a wait cancelled by an operator does not count as a confirmation', async () => {
  await replicas('nobody');
  const patient = openDatabase({ url: server.url, pool: 1, name: 'waiting' });
  const writing = patient.query(`insert into kept values ('cancelled')`);
  writing.catch(() => undefined);
  const [one] = await until('a process that waits', async () => {
    const found = await waiting();
    return found.length > 0 && found;
  });
  await admin.query('select pg_cancel_backend($1)', [one?.pid]);
  await expect(writing).rejects.toThrow('the commit was not confirmed by the replicas');
  await patient.close();
});
