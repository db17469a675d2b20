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
 * The path of a program, under any of its names. A variable may name another one, and `places` are looked at first. Without it
 * tests cannot run, and then they have not passed: the process ends.
 */
export function program(name, packageName = name, { names = [name], places = [] } = {}) {
  const variable = name.toUpperCase();
  const found = () => {
    const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...MORE_FOLDERS];
    const candidates = [
      process.env[variable],
      ...places,
      ...names.flatMap((one) => folders.map((folder) => path.join(folder, one))),
    ];
    return candidates.find((place) => place !== undefined && isProgram(place));
  };
  const there = found();
  if (there !== undefined) return there;
  install(packageName);
  return found() ?? stop(name, packageName, variable);
}

function stop(name, packageName, variable) {
  process.stderr.write(`perennial: some tests need ${name}: install ${packageName}, or set ${variable} to its path\n`);
  process.exit(1);
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

/** Without a window where there is one like that: it takes half the processor's time. */
export const chromium = () =>
  program('chromium', 'chromium-headless-shell', {
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    places: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  });

/** A font that has the letters of a language, by its tag. */
export function requireFont(language, packageName) {
  const isThere = () => spawnSync('fc-list', [`:lang=${language}`], { encoding: 'utf8' }).stdout?.trim();
  if (isThere()) return;
  install(packageName);
  if (isThere()) return;
  process.stderr.write(`perennial: pictures need a font for "${language}": install fontconfig and ${packageName}\n`);
  process.exit(1);
}

/** One that can encrypt: of several on a machine, the first may lack the package that Debian gives to its own. */
export function python() {
  const canEncrypt = (place) => spawnSync(place, ['-c', 'import cryptography'], { stdio: 'ignore' }).status === 0;
  const found = () => [process.env['PYTHON3'] ?? 'python3', '/usr/bin/python3'].find(canEncrypt);
  const there = found();
  if (there !== undefined) return there;
  install('python3-cryptography');
  return found() ?? stop('python3 with its package cryptography', 'python3-cryptography', 'PYTHON3');
}
