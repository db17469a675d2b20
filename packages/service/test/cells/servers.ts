import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedDatabase, openEmbedded } from '@perennial/embedded-postgres';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { perennial } from '../cli/perennial.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { copyFolder, databaseUrl } from '../support/server.js';
import { becomeCell } from './support.js';

/**
 * A server with the cells 0 and 1 in the databases cell_0 and cell_1, its streaming replica, and a listener for each
 * cell. Both servers begin as copies of one stopped server, which is a base backup without pg_basebackup.
 */
export type Pair = Awaited<ReturnType<typeof createPair>>;

export async function createPair() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-pair-'));
  const [oldFolder, newFolder] = [path.join(folder, 'old'), path.join(folder, 'new')];
  const servers: EmbeddedDatabase[] = [];
  const start = async (dataDir: string) => {
    const server = await openEmbedded({ dataDir, role: 'tool', log: () => undefined });
    servers.push(server);
    return server;
  };
  for (const one of [oldFolder, newFolder]) copyFolder(inject('preparedFolder'), await made(one));
  appendFileSync(path.join(oldFolder, 'postgres', 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
  const old = await start(oldFolder);
  const { port, username, password } = new URL(old.url);
  writeFileSync(path.join(newFolder, 'postgres', 'standby.signal'), '');
  appendFileSync(
    path.join(newFolder, 'postgres', 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=replica'\n`,
  );
  const replica = await start(newFolder);
  const [from, to] = [old, replica].map(({ url }) => databaseUrl(url, 'postgres')) as [string, string];
  const admin = { old: openAdmin(from), new: openAdmin(to) };
  const migrated = new URL(old.url).pathname.slice(1);
  const listeners: Listener[] = [];
  for (const cell of [0, 1]) {
    await admin.old.query(`create database cell_${cell} template ${migrated}`);
    const database = openAdmin(databaseUrl(old.url, `cell_${cell}`));
    await becomeCell(database, cell);
    await database.query('create table kept (what text primary key)');
    await database.close();
    listeners.push(await listen(path.join(folder, `cell_${cell}.port`), Number(port)));
  }
  const urls = listeners.map(({ port: own }, cell) => {
    const url = new URL(databaseUrl(old.url, `cell_${cell}`));
    url.port = `${own}`;
    return url.href;
  });
  const file = path.join(folder, 'cells.json');
  writeFileSync(file, JSON.stringify(urls.map((database, cell) => ({ cell, database }))));
  await until('the replica has the cells', async () => {
    const [row] = await admin.new.query<{ n: number }>(
      `select count(*) as n from pg_database where datname like 'cell_%'`,
    );
    return row?.n === 2;
  });
  /** Runs `perennial cell split 1` with these options. The command switches the listener by its file. */
  const split = (...more: readonly string[]) =>
    perennial(
      [
        ...['cell', 'split', '1', '--from', from, '--to', to, '--wait-seconds', '20'],
        ...['--switch-command', `printf %s $PERENNIAL_PORT > ${folder}/cell_$PERENNIAL_CELL.port`, ...more],
      ],
      { CELLS_FILE: file, PATH: process.env['PATH'] ?? '' },
    );
  return {
    split,
    /** The steps with their states, as the command reports them. */
    async steps(...more: readonly string[]): Promise<Record<string, string>> {
      const ran = await split('--json', ...more);
      if (ran.stdout === '') throw new Error(ran.stderr);
      return Object.fromEntries(
        JSON.parse(ran.stdout).steps.map(({ step, state }: { step: string; state: string }) => [step, state]),
      );
    },
    admin,
    urls,
    /** Returns the URL of a database on a server, not by the listener. */
    urlOn: (server: 'old' | 'new', database: string) => databaseUrl(server === 'old' ? from : to, database),
    stopOld: () => old.release(),
    async close() {
      for (const one of Object.values(admin)) await one.close();
      for (const one of listeners) one.close();
      for (const one of servers.toReversed()) await one.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function made(folder: string): Promise<string> {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(folder, { recursive: true });
  return folder;
}

const openAdmin = (url: string): Database => openDatabase({ url, pool: 1, name: 'test', statementMs: 20_000 });

interface Listener {
  readonly port: number;
  close(): void;
}

/** Forwards connections to the port in a file, which a test or a command changes. */
async function listen(file: string, target: number): Promise<Listener> {
  writeFileSync(file, `${target}`);
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server: Server = createServer((from) => {
    const to = connect(Number(readFileSync(file, 'utf8')), '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    close() {
      for (const one of sockets) one.destroy();
      server.close();
    },
  };
}
