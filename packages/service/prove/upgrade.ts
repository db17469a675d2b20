import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../src/platform/db/database.js';
import { openVault } from '../src/platform/secrets/vault.js';
import { channelClient } from '../test/support/channel-client.js';
import { collectRequest } from '../test/support/demo.js';
import { freePort } from '../test/support/free-port.js';
import { type Running, start, until } from '../test/support/processes.js';
import { installService, versionBefore, withFolder, withVersion } from './support/checkout.js';
import { withTemporaryDatabase } from './support/temporary-database.js';
import { crossVersionPlay, seedRows } from './upgrade/play.js';
import { startReceiver } from './upgrade/receiver.js';
import { steadyCalls } from './upgrade/steady-calls.js';

const say = (line: string) => process.stdout.write(`${line}\n`);

interface Size {
  /** The number of orders from before the upgrade, which every migration has to process. */
  readonly seeded: number;
  /** The number of responses to wait for in each phase. */
  readonly calls: number;
  readonly callers: number;
  readonly channels: number;
  /** Nodes of each version. */
  readonly nodes: number;
}

/** The whole proof has one channel per delivery shard, so that nodes of both versions have events to send. */
const WHOLE: Size = { seeded: 50_000, calls: 200, callers: 6, channels: 16, nodes: 2 };
const SHORT: Size = { seeded: 1_000, calls: 20, callers: 2, channels: 4, nodes: 1 };

/**
 * npm run prove -- upgrade [--short] [REF]: runs nodes of version REF and of this version on one database through a
 * whole upgrade. The schema is migrated under the older nodes, newer nodes join, and the older ones stop, while callers
 * continue. Both versions run from their published packages, and this one has two more migrations. --short uses fewer
 * orders, calls, channels and nodes. REF defaults to the last release, else to the commit before the newest migration.
 * In a clone without history this version plays both parts.
 */
export default async function proveUpgrade(args: readonly string[], { root }: { root: string }): Promise<void> {
  const size = args[0] === '--short' ? SHORT : WHOLE;
  const [given] = args.filter((arg) => arg !== '--short');
  const ref = given ?? versionBefore(root);
  say(ref === undefined ? 'this clone has no older version: this one takes both parts' : `building ${ref}`);
  const play = (older: string) =>
    withFolder(async (folder) => {
      const newer = installService(root, folder);
      for (const [name, sql] of MIGRATIONS) await writeFile(path.join(newer, 'migrations', name), sql);
      return withTemporaryDatabase((databaseUrl) => upgrade({ older, newer, databaseUrl, size }));
    });
  const own = path.join(root, 'packages/service');
  const findings = ref === undefined ? await play(own) : await withVersion(root, ref, play);
  for (const finding of findings.slice(0, 20)) say(`WRONG: ${finding}`);
  say(findings.length === 0 ? 'nothing failed and nothing was lost' : `${findings.length} findings`);
  if (findings.length > 0) process.exitCode = 1;
}

/** An expand and a contract migration of the newer version, so that there is always something to migrate. */
const MIGRATIONS = [
  [
    '900001_expand.sql',
    `alter table orders add column proof integer not null default 0;
-- Afterwards:
call update_in_steps('orders', 'proof = 1', null, 't.proof = 0');
create index concurrently orders_proof on orders (proof, order_no);
`,
  ],
  ['900002_contract.sql', '-- Contract: removes a column.\nalter table orders drop column proof;\n'],
] as const;

interface Upgrade {
  /** The folders of the services. */
  readonly older: string;
  readonly newer: string;
  readonly databaseUrl: string;
  readonly size: Size;
}

async function upgrade({ older, newer, databaseUrl, size }: Upgrade): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-upgrade-'));
  const masterKey = randomBytes(32);
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey.toString('base64'),
    DATA_DIR: dataDir,
    DATABASE_POOL: '8',
    LOG_LEVEL: 'warn',
    PUBLIC_URL: 'https://pay.example',
  };
  const events = await startReceiver();
  const authority = path.join(dataDir, 'authority.pem');
  await writeFile(authority, events.authority);
  const toReceiver = new URL('./upgrade/receiver-address.mjs', import.meta.url);
  const nodeEnv = { ...env, NODE_EXTRA_CA_CERTS: authority, NODE_OPTIONS: `--import=${toReceiver}` };
  const started: Running[] = [];
  const startMain = (service: string, port: number) => {
    const running = start(path.join(service, 'dist/program/main.js'), { ...nodeEnv, PORT: String(port) });
    started.push(running);
    return running;
  };
  const startNode = async (service: string) => {
    const port = await freePort();
    const running = startMain(service, port);
    await until('a node serves', () => {
      if (running.child.exitCode !== null) throw new Error(`a node ended: ${running.stderr()}`);
      return running.stderr().includes('Perennial is ready');
    });
    return { running, url: `http://127.0.0.1:${port}` };
  };
  // Starts the nodes one after the other, because the first creates the schema and the demo channel.
  const startNodes = async (service: string) => {
    const nodes = [];
    while (nodes.length < size.nodes) nodes.push(await startNode(service));
    return nodes;
  };
  const command = async (service: string, ...args: string[]) => {
    const running = start(path.join(service, 'bin/perennial.js'), env, args);
    const code = await running.exited;
    if (code !== 0) throw new Error(`perennial ${args.join(' ')} ended with ${code}: ${running.stderr()}`);
    return running.stdout().trim();
  };
  const database = openDatabase({ url: databaseUrl, pool: 4, name: 'prove upgrade' });
  try {
    const olderNodes = await startNodes(older);
    say(`${size.nodes} nodes of the older version serve`);
    const credentials = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
    await command(older, 'channel', 'set-limits', credentials.appId, '--rate', '10000');
    const [firstUrl = ''] = olderNodes.map(({ url }) => url);
    const first = channelClient(firstUrl, credentials);
    const { data: made } = await first.call('orders/create', collectRequest(first));
    const seeded = await seedRows(database, made.orderNo, size.seeded);
    say(`rows from before: ${seeded}`);
    const urls = olderNodes.map(({ url }) => url);
    const calls = steadyCalls(credentials, urls, size.callers);
    await calls.answered(size.calls);

    calls.phase('schema migrated under older nodes');
    const begun = performance.now();
    say(await command(newer, 'migrate'));
    say(`that took ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    await calls.answered(size.calls);

    calls.phase('both versions');
    const newerNodes = await startNodes(newer);
    urls.push(...newerNodes.map(({ url }) => url));
    say(`${size.nodes} nodes of this version serve beside them`);
    const operator = { database, vault: openVault([masterKey]), environment: 'sandbox', actor: 'prove' } as const;
    const play = await crossVersionPlay({
      operator,
      older: olderNodes.map(({ url }) => url),
      newer: newerNodes.map(({ url }) => url),
      events,
      channels: size.channels,
      say,
    });
    await calls.answered(size.calls);

    calls.phase('older nodes stop');
    urls.splice(0, olderNodes.length);
    await calls.answered(size.calls);
    const findings: string[] = [];
    for (const { running } of olderNodes) {
      running.child.kill('SIGTERM');
      if ((await running.exited) !== 0) findings.push(`an older node ended badly: ${running.stderr().slice(-500)}`);
    }
    calls.phase('contract');
    say(await command(newer, 'migrate', '--contract'));
    await calls.answered(size.calls);
    calls.phase('keys bound');
    say(await command(newer, 'master-key', 'rewrap'));
    await calls.answered(size.calls);
    findings.push(...(await play.afterwards(newerNodes[0]?.url ?? '')));

    const late = startMain(older, await freePort());
    if ((await late.exited) === 0 || !/newer build/.test(late.stderr())) {
      findings.push(`an older node started on the contracted schema: ${late.stderr().slice(-300)}`);
    }
    say('an older node is refused on the contracted schema');
    const { failures, table } = await calls.stop();
    for (const line of table) say(line);
    findings.push(...failures, ...(await calls.lost(database)));
    for (const { running } of [...olderNodes, ...newerNodes]) {
      const errors = running
        .stdout()
        .split('\n')
        .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line));
      findings.push(...errors.map((line) => `logged: ${line.slice(0, 400)}`));
    }
    return findings;
  } finally {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ exited }) => exited));
    events.close();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
