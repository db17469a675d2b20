// Runs the collections of examples/ with the real Newman and Bruno, installed from npm into a temporary folder. Part of
// `npm run prove -- languages`, which runs this after its tests unless --short is given.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../../../scripts/run.mjs';

const TOOLS = ['newman@6.2.2', '@usebruno/cli@4.1.0'];

if (process.argv.includes('--short')) process.exit();
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-collections-'));
let failures = 0;
try {
  run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', ...TOOLS], root);
  failures = await withService(path.join(folder, 'data'), runCollections);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failures === 0 ? 0 : 1);

/** Runs the collections in both programs. Returns the number of programs that failed. */
async function runCollections({ baseUrl, appId, appSecret, aesKey }) {
  const values = Object.entries({ baseUrl, appId, appSecret, aesKey }).flatMap(([name, value]) => [
    '--env-var',
    `${name}=${value}`,
  ]);
  const tool = (name) => path.join(folder, 'node_modules', '.bin', name);
  const [postman, bruno] = await Promise.all(
    ['perennial.postman_collection.json', 'perennial-bruno.tgz'].map(async (name) => {
      const place = path.join(folder, name);
      const answer = await fetch(`${baseUrl}/developers/clients/${name}`);
      writeFileSync(place, Buffer.from(await answer.arrayBuffer()));
      return place;
    }),
  );
  if (run('tar', ['-xzf', bruno, '-C', folder], root) !== 0) return 1;
  return (
    run(tool('newman'), ['run', postman, ...values], root) +
    run(tool('bru'), ['run', '--env', 'sandbox', ...values], path.join(folder, 'bruno'))
  );
}

function run(command, args, cwd) {
  const env = { ...process.env, no_proxy: '127.0.0.1,localhost' };
  return spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status === 0 ? 0 : 1;
}

/** Starts a service as users do and passes the demo channel to `work`. */
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
    return await work(JSON.parse(readFileSync(path.join(dataDir, 'demo-channel.json'), 'utf8')));
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}
