import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../src/platform/db/database.js';
import { openVault } from '../src/platform/secrets/vault.js';
import { freePort } from '../test/support/free-port.js';
import { ledgerPort, type Running, start } from '../test/support/processes.js';
import { lastRelease, withCheckout } from './support/checkout.js';
import type { Surroundings } from './support/surroundings.js';
import { withTemporaryDatabase } from './support/temporary-database.js';
import { crossVersionPlay, seedRows } from './upgrade/play.js';
import { steadyCalls } from './upgrade/steady-calls.js';

const say = (line: string) => process.stdout.write(`${line}\n`);

/**
 * npm run prove -- upgrade [REF]: nodes of the version REF and of this one on one database, through a whole upgrade: the
 * schema is migrated under the older nodes, newer ones come beside them, and the older ones go. Meanwhile callers go on.
 */
export default async function proveUpgrade([given]: readonly string[], { root }: Surroundings): Promise<void> {
  const ref = given ?? lastRelease(root);
  if (ref === undefined) throw new Error('there is no release tag: npm run prove -- upgrade REF');
  say(`building ${ref}`);
  const findings = await withCheckout(root, ref, (older) =>
    withTemporaryDatabase((databaseUrl) => upgrade({ older, newer: root, databaseUrl })),
  );
  for (const finding of findings.slice(0, 20)) say(`WRONG: ${finding}`);
  say(findings.length === 0 ? 'nothing failed and nothing was lost' : `${findings.length} findings`);
  if (findings.length > 0) process.exitCode = 1;
}

interface Upgrade {
  /** Checkouts. */
  readonly older: string;
  readonly newer: string;
  readonly databaseUrl: string;
}

async function upgrade({ older, newer, databaseUrl }: Upgrade): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-upgrade-'));
  const masterKey = randomBytes(32);
  const env = {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey.toString('base64'),
    DATA_DIR: dataDir,
    DATABASE_POOL: '8',
    LOG_LEVEL: 'warn',
  };
  const started: Running[] = [];
  const script = path.join(newer, 'packages/service/prove/support/version-node.mjs');
  const startNode = async (checkout: string) => {
    const running = start(script, { ...env, PORT: String(await freePort()) }, [checkout]);
    started.push(running);
    return { running, url: `http://127.0.0.1:${await ledgerPort(running)}` };
  };
  const command = async (checkout: string, ...args: string[]) => {
    const running = start(path.join(checkout, 'packages/service/bin/perennial.js'), env, args);
    const code = await running.exited;
    if (code !== 0) throw new Error(`perennial ${args.join(' ')} ended with ${code}: ${running.stderr()}`);
    return running.stdout().trim();
  };
  const database = openDatabase({ url: databaseUrl, pool: 4, name: 'prove upgrade' });
  try {
    const olderNodes = [await startNode(older), await startNode(older)];
    say('2 nodes of the older version serve');
    const credentials = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
    await command(older, 'channel', 'set-limits', credentials.appId, '--rate', '10000');
    const seeded = await seedRows(database);
    say(`rows from before: ${seeded}`);
    const urls = olderNodes.map(({ url }) => url);
    const calls = steadyCalls(credentials, urls);
    await calls.answered(200);

    calls.phase('schema migrated under older nodes');
    const begun = performance.now();
    say(await command(newer, 'migrate'));
    say(`that took ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    await calls.answered(200);

    calls.phase('both versions');
    const newerNodes = [await startNode(newer), await startNode(newer)];
    urls.push(...newerNodes.map(({ url }) => url));
    say('2 nodes of this version serve beside them');
    const operator = { database, vault: openVault([masterKey]), environment: 'sandbox', actor: 'prove' } as const;
    const play = await crossVersionPlay({
      operator,
      older: olderNodes.map(({ url }) => url),
      newer: newerNodes.map(({ url }) => url),
      say,
    });
    // Not many: where a resend is 409002, it took 10 s.
    await calls.answered(200);

    calls.phase('older nodes stop');
    urls.splice(0, olderNodes.length);
    await calls.answered(100);
    const findings: string[] = [];
    for (const { running } of olderNodes) {
      running.child.kill('SIGTERM');
      if ((await running.exited) !== 0) findings.push(`an older node ended badly: ${running.stderr().slice(-500)}`);
    }
    calls.phase('contract');
    say(await command(newer, 'migrate', '--contract'));
    await calls.answered(200);
    findings.push(...(await play.afterwards(newerNodes[0]?.url ?? '')));

    const late = start(script, { ...env, PORT: String(await freePort()) }, [older]);
    started.push(late);
    if ((await late.exited) === 0 || !/newer build/.test(late.stderr())) {
      findings.push(`an older node started on the contracted schema: ${late.stderr().slice(-300)}`);
    }
    const { failures, table } = await calls.stop();
    for (const line of table) say(line);
    findings.push(...failures, ...(await calls.lost(database)));
    for (const { running } of [...olderNodes, ...newerNodes]) {
      const errors = running
        .stdout()
        .split('\n')
        .filter((line) => /"level":(50|60)/.test(line));
      findings.push(...errors.map((line) => `logged: ${line.slice(0, 400)}`));
    }
    return findings;
  } finally {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ exited }) => exited));
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
