// Programs that the tests use and do not come with npm: the system's own, installed from Debian when they are missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Servers are often in folders that only root has on its PATH. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

function isProgram(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The path of a program: the first of `packages` that is there or can be installed, or one of `instead`, names or whole paths. A
 * variable may name another one. Without any, tests cannot run, and then they have not passed: the process ends.
 */
export function program(name, packages = [name], instead = []) {
  const variable = name.toUpperCase();
  const given = process.env[variable];
  if (given && isProgram(given)) return given;
  for (const packageName of packages) {
    if (find(packageName) === undefined) install(packageName);
    const there = find(packageName);
    if (there !== undefined) return there;
  }
  const other = instead.map(find).find((place) => place !== undefined);
  if (other !== undefined) return other;
  process.stderr.write(`perennial: some tests need ${name}: install ${packages[0]}, or set ${variable} to its path\n`);
  process.exit(1);
}

function find(name) {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...MORE_FOLDERS];
  return folders.map((folder) => path.resolve(folder, name)).find(isProgram);
}

/** As root, or as somebody who may become root without a password. */
function install(packageName) {
  process.stderr.write(`  installing ${packageName} (apt-get)\n`);
  // A server that comes with its package is not started: tests start their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', '--no-install-recommends', packageName],
  ]) {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    spawnSync(command, rest, { stdio: ['ignore', 2, 2], env });
  }
}

/** Without a window and what draws one, which takes half the time; or with it. */
export const chromium = () =>
  program(
    'chromium',
    ['chromium-headless-shell', 'chromium'],
    [
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
  );
