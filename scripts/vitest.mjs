import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium, program } from './debian.mjs';
import { root } from './prepare.mjs';

/** Runs tests, with the programs that they need and a folder of their own for what they leave behind. Its exit code. */
export async function runTests(args, { settings = {}, signal } = {}) {
  const folder = temporaryFolder();
  // As the system's own: the embedded server runs under a user of its own.
  chmodSync(folder, 0o1777);
  const tests = spawn(process.execPath, [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROMIUM: chromium(),
      HAPROXY: program('haproxy'),
      PGBOUNCER: program('pgbouncer'),
      TMPDIR: folder,
      ...settings,
    },
  });
  const end = () => tests.kill();
  signal?.addEventListener('abort', end);
  // A terminal tells all of them; whoever tells this process alone means the tests too. They end in order, and this waits.
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, end);
  const [code] = await once(tests, 'exit');
  rmSync(folder, { recursive: true, force: true });
  return code ?? 1;
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
