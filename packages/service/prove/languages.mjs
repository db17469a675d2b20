// npm run prove -- languages: the clients in other languages, and the collections by Newman and Bruno themselves, which are fetched
// from npm into a temporary folder; with --smoke neither is fetched. `npm test` has the clients too, each with fewer runs, and the collection's scripts in a stand-in
// of Postman.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../../../scripts/prepare.mjs';
import { proveByTests } from '../../../scripts/vitest.mjs';

const TOOLS = ['newman@6.2.2', '@usebruno/cli@4.1.0'];
const collection = path.join(root, 'examples', 'collection');

const isSmoke = process.argv.includes('--smoke');
const tests = proveByTests(['test/kit/languages', 'test/kit/collection']);
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-collections-'));
let failures = tests === 0 ? 0 : 1;
try {
  if (!isSmoke)
    run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', ...TOOLS], root);
  failures += await withService(path.join(folder, 'data'), runCollections);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failures === 0 ? 0 : 1);

/** How many of the two have failed. */
function runCollections({ baseUrl, appId, appSecret, aesKey }) {
  const values = Object.entries({ baseUrl, appId, appSecret, aesKey }).flatMap(([name, value]) => [
    '--env-var',
    `${name}=${value}`,
  ]);
  const tool = (name) => path.join(folder, 'node_modules', '.bin', name);
  const bruno = path.join(folder, 'bruno');
  cpSync(path.join(collection, 'bruno'), bruno, { recursive: true });
  // A smoke test fetches nothing.
  if (isSmoke) return [baseUrl, appId, appSecret, aesKey].every(Boolean) ? 0 : 1;
  return (
    run(tool('newman'), ['run', path.join(collection, 'perennial.postman_collection.json'), ...values], root) +
    run(tool('bru'), ['run', '--env', 'sandbox', ...values], bruno)
  );
}

function run(command, args, cwd) {
  const env = { ...process.env, no_proxy: '127.0.0.1,localhost' };
  return spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status === 0 ? 0 : 1;
}

/** A service as people start it; what is done with it is given the demo channel. */
async function withService(dataDir, work) {
  mkdirSync(dataDir);
  const child = spawn(process.execPath, [path.join(root, 'packages/service/dist/program/main.js')], {
    env: { PATH: process.env['PATH'], HOME: os.homedir(), DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.startsWith('Perennial is ready')) break;
    }
    child.stderr.resume();
    return work(JSON.parse(readFileSync(path.join(dataDir, 'demo-channel.json'), 'utf8')));
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}
