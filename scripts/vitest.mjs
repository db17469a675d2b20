import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium, program, python } from './debian.mjs';
import { root } from './prepare.mjs';

/** Runs tests, with the programs that they need and a folder of their own for what they leave behind. Its exit code. */
export function runTests(args, settings = {}) {
  const folder = temporaryFolder();
  // As the system's own: the embedded server runs under a user of its own.
  chmodSync(folder, 0o1777);
  const { status } = spawnSync(process.execPath, [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROMIUM: chromium(),
      GO: program('go', 'golang-go'),
      HAPROXY: program('haproxy'),
      JAVA: program('java', 'default-jdk-headless'),
      JAVAC: program('javac', 'default-jdk-headless'),
      PGBOUNCER: program('pgbouncer'),
      PHP: program('php', 'php-cli'),
      PYTHON3: python(),
      TMPDIR: folder,
      ...settings,
    },
  });
  rmSync(folder, { recursive: true, force: true });
  return status ?? 1;
}

/** Which of these filters name no test file. Runs none. */
function findUselessFilters(project, filters) {
  const args = ['list', '--filesOnly', '--json', '--project', project, ...filters];
  const { stdout, stderr } = spawnSync(process.execPath, [`${root}/node_modules/vitest/vitest.mjs`, ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  if (!stdout.trimStart().startsWith('[')) throw new Error(`vitest lists no tests: ${stdout}${stderr}`);
  const files = JSON.parse(stdout).map(({ file }) => file);
  return filters.filter((filter) => !files.some((file) => file.includes(filter)));
}

/** Runs tests that a proof consists of, each with much to do; with --smoke only looks whether they are there. */
export function proveByTests(filters, more = []) {
  if (!process.argv.includes('--smoke'))
    return runTests(['--project', 'service', ...more, ...filters], { LONG_RUNS: 'on' });
  const useless = findUselessFilters('service', filters);
  for (const filter of useless) process.stderr.write(`there is no test ${filter}\n`);
  return useless.length;
}

/** Where the tests' databases live: in memory where there is room, since a disk is most of what they wait for. */
function temporaryFolder() {
  const inMemory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize > 8 * 2 ** 30) return mkdtempSync(path.join(inMemory, 'perennial-'));
  } catch {
    // There is none.
  }
  return mkdtempSync(path.join(os.tmpdir(), 'perennial-'));
}
