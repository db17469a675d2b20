// Programs that the tests use and do not come with npm: the system's own, installed from Debian when they are missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Debian keeps servers where ordinary users do not look. */
const FURTHER_FOLDERS = ['/usr/sbin', '/sbin'];

function isProgram(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The path of a program under any of its names. `variable` may name another one, and `places` are looked at first. Without it
 * some tests cannot run, and then the tests have not passed.
 */
export function program({ of, names, variable, places = [] }) {
  const found = () => {
    const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...FURTHER_FOLDERS];
    const candidates = [
      process.env[variable],
      ...places,
      ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
    ];
    return candidates.find((place) => place !== undefined && isProgram(place));
  };
  const there = found();
  if (there !== undefined) return there;
  install(of);
  const now = found();
  if (now === undefined) {
    process.stderr.write(`perennial: some tests need ${of}: install it, or set ${variable} to its path\n`);
    process.exit(1);
  }
  return now;
}

function install(name) {
  process.stderr.write(`  installing ${name} (apt-get)\n`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', '--no-install-recommends', name],
  ]) {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    spawnSync(command, rest, { stdio: ['ignore', 2, 2], env: environment });
  }
}

export const chromium = () =>
  program({
    of: 'chromium',
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    variable: 'CHROMIUM',
    places: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  });

export const pgbouncer = () => program({ of: 'pgbouncer', names: ['pgbouncer'], variable: 'PGBOUNCER' });
