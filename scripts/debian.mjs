// Programs of the system that tests drive, installed from Debian when they are missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Servers are often in folders that only root has on its PATH. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

export function isProgram(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the first of these names that is found. */
export function findProgram(...names) {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...MORE_FOLDERS];
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isProgram);
}

/** As root, or as somebody who may become root without a password. */
export function install(packageName) {
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

/** The path of a program. Without it tests cannot run, and then they have not passed: the process ends. */
export function program(name, packageName = name) {
  const there = findProgram(name);
  if (there !== undefined) return there;
  install(packageName);
  const now = findProgram(name);
  if (now !== undefined) return now;
  process.stderr.write(`perennial: the tests need ${name}: install the package ${packageName}\n`);
  process.exit(1);
}
