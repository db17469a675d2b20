// The browser that the tests drive: the system's Chromium, installed from Debian when it is missing.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

function found() {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const places = [
    process.env['CHROMIUM'],
    ON_MACOS,
    ...NAMES.flatMap((name) => folders.map((at) => path.join(at, name))),
  ];
  return places.find((place) => place !== undefined && isProgram(place));
}

function isProgram(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Its path. Without it the browser tests cannot run, and then the tests have not passed. */
export function chromium() {
  const there = found();
  if (there !== undefined) return there;
  process.stderr.write('  installing chromium (apt-get)\n');
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  for (const args of [
    ['update', '-q'],
    ['install', '-q', '-y', '--no-install-recommends', 'chromium'],
  ]) {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    spawnSync(command, rest, { stdio: ['ignore', 2, 2], env: environment });
  }
  const now = found();
  if (now === undefined) {
    process.stderr.write('perennial: the browser tests need Chromium: install it, or set CHROMIUM to its path\n');
    process.exit(1);
  }
  return now;
}
