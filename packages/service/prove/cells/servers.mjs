import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ENVIRONMENT } from '../ha/children.mjs';
import { isThere, postgresOf, signal } from '../ha/signals.mjs';
import { until } from '../ha/waiting.mjs';

const run = promisify(execFile);
const HOST = '127.0.0.1';
const START_SECONDS = 60;
/** The role that owns the cells' databases, as which nodes connect. */
const OWNER = 'perennial';
const SETTINGS = `listen_addresses = '${HOST}'\nmax_connections = 200\n`;

/** `npm run prove` sets INITDB. */
export const postgresProgram = (name) => path.join(path.dirname(process.env['INITDB'] ?? ''), name);

export const dataDirsIn = (folder) => ['old', 'new'].map((name) => path.join(folder, name, 'data'));

/** Creates a PostgreSQL server with the databases of the cells, and its streaming replica. Both are started. */
export async function createServers({ folder, children, identity, ports, interrupted, databases }) {
  const password = randomBytes(18).toString('base64url');
  const [oldDir, newDir] = dataDirsIn(folder);
  const common = { children, identity, password, interrupted };
  const old = createServer({ ...common, name: 'old', dataDir: oldDir, port: ports.old });
  const replica = createServer({ ...common, name: 'new', dataDir: newDir, port: ports.new });
  for (const { home } of [old, replica]) await ownFolder(home, identity);

  const passwordFile = path.join(old.home, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity.uid !== undefined) await chown(passwordFile, identity.uid, identity.gid);
  const as = { ...identity, cwd: old.home, env: { ...ENVIRONMENT, PGPASSWORD: password } };
  const auth = ['-A', 'scram-sha-256', '--pwfile', passwordFile];
  await run(postgresProgram('initdb'), ['-D', oldDir, '-U', 'postgres', '-E', 'UTF8', ...auth], as);
  await appendFile(path.join(oldDir, 'postgresql.conf'), SETTINGS);
  await old.start();
  await old.query(`create role ${OWNER} login password '${password}'`);
  for (const name of databases) await old.query(`create database ${name} owner ${OWNER}`);
  const from = ['-h', HOST, '-p', String(ports.old), '-U', 'postgres'];
  await run(postgresProgram('pg_basebackup'), [...from, '-D', newDir, '-R', '-C', '-S', 'new', '-c', 'fast'], as);
  await replica.start();
  return {
    old,
    new: replica,
    ownerUrl: (port, database) => `postgres://${OWNER}:${password}@${HOST}:${port}/${database}`,
  };
}

function createServer({ children, identity, password, interrupted, name, dataDir, port }) {
  const home = path.dirname(dataDir);
  const urlOf = (database) => `postgres://postgres:${password}@${HOST}:${port}/${database}`;
  let running;
  let processes = [];

  async function startOnce() {
    running = await children.start({
      name: `postgres-${name}`,
      role: 'server',
      command: postgresProgram('postgres'),
      args: ['-D', dataDir, '-p', String(port), '-k', home],
      as: identity,
      cwd: home,
    });
  }

  const server = {
    home,
    dataDir,
    port,
    urlOf,
    async query(text, values, database = 'postgres') {
      const client = new pg.Client({ connectionString: urlOf(database), connectionTimeoutMillis: 2_000 });
      client.on('error', () => undefined);
      await client.connect();
      try {
        return (await client.query(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    async start() {
      await startOnce();
      await until(
        `the ${name} server answers`,
        async () => {
          // A server that was killed leaves shared memory, which is in use until its last process has ended.
          if (running.hasEnded()) await startOnce();
          return server.query('select 1');
        },
        { seconds: START_SECONDS, interrupted },
      );
      processes = postgresOf(dataDir);
    },
    /** Kills all processes of the server, also if its main process was killed before. */
    async kill() {
      const all = [...postgresOf(dataDir), ...processes];
      signal(all, 'SIGKILL');
      await running.ended;
      await until(`the ${name} server is gone`, async () => !all.some(isThere), {
        seconds: START_SECONDS,
        interrupted,
      });
    },
  };
  return server;
}

async function ownFolder(folder, { uid, gid }) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined) await chown(folder, uid, gid);
}
