import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../src/platform/db/database.js';
import { openVault } from '../src/platform/secrets/vault.js';
import { channelClient } from '../test/support/channel-client.js';
import { collectRequest } from '../test/support/demo.js';
import { freePort } from '../test/support/free-port.js';
import { type Running, start, until } from '../test/support/processes.js';
import { versionBefore, withCheckout } from './support/checkout.js';
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
 * continue. --short uses fewer orders, calls, channels and nodes. REF defaults to the last release, else to the commit
 * before the newest migration. In a clone without history this version plays both parts.
 */
export default async function proveUpgrade(args: readonly string[], { root }: { root: string }): Promise<void> {
  const size = args[0] === '--short' ? SHORT : WHOLE;
  const [given] = args.filter((arg) => arg !== '--short');
  const ref = given ?? versionBefore(root);
  say(ref === undefined ? 'this clone has no older version: this one takes both parts' : `building ${ref}`);
  const play = (older: string) =>
    withTemporaryDatabase((databaseUrl) => upgrade({ older, newer: root, databaseUrl, size }));
  const findings = ref === undefined ? await play(root) : await withCheckout(root, ref, play);
  for (const finding of findings.slice(0, 20)) say(`WRONG: ${finding}`);
  say(findings.length === 0 ? 'nothing failed and nothing was lost' : `${findings.length} findings`);
  if (findings.length > 0) process.exitCode = 1;
}

interface Upgrade {
  readonly older: string;
  readonly newer: string;
  readonly databaseUrl: string;
  readonly size: Size;
}

/** Returns the path of the main program. Versions before bundling have it in a different folder. */
function mainOf(checkout: string): string {
  const program = (...place: string[]) => path.join(checkout, 'packages/service/dist', ...place, 'main.js');
  return existsSync(program('program')) ? program('program') : program();
}

/** Returns the names of the contract migrations. Older nodes cannot run after a contract migration. */
function contractsOf(checkout: string): string[] {
  const folder = path.join(checkout, 'packages/service/migrations');
  return readdirSync(folder).filter((file) => readFileSync(path.join(folder, file), 'utf8').startsWith('-- Contract'));
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
  const toReceiver = path.join(newer, 'packages/service/prove/upgrade/receiver-address.mjs');
  const nodeEnv = { ...env, NODE_EXTRA_CA_CERTS: authority, NODE_OPTIONS: `--import=${pathToFileURL(toReceiver)}` };
  const started: Running[] = [];
  const startMain = (checkout: string, port: number) => {
    const running = start(mainOf(checkout), { ...nodeEnv, PORT: String(port) });
    started.push(running);
    return running;
  };
  const startNode = async (checkout: string) => {
    const port = await freePort();
    const running = startMain(checkout, port);
    await until('a node serves', () => {
      if (running.child.exitCode !== null) throw new Error(`a node ended: ${running.stderr()}`);
      return running.stderr().includes('Perennial is ready');
    });
    return { running, url: `http://127.0.0.1:${port}` };
  };
  // Starts the nodes one after the other, because the first creates the schema and the demo channel.
  const startNodes = async (checkout: string) => {
    const nodes = [];
    while (nodes.length < size.nodes) nodes.push(await startNode(checkout));
    return nodes;
  };
  const command = async (checkout: string, ...args: string[]) => {
    const running = start(path.join(checkout, 'packages/service/bin/perennial.js'), env, args);
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

    const known = contractsOf(older);
    if (contractsOf(newer).some((file) => !known.includes(file))) {
      const late = startMain(older, await freePort());
      if ((await late.exited) === 0 || !/newer build/.test(late.stderr())) {
        findings.push(`an older node started on the contracted schema: ${late.stderr().slice(-300)}`);
      }
      say('an older node is refused on the contracted schema');
    }
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
