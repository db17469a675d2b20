import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './prepare.mjs';

/** Runs tests, with a folder of their own for what they leave behind. Its exit code. */
export function runTests(args, settings = {}) {
  const folder = temporaryFolder();
  // As the system's own: the embedded server runs under a user of its own.
  chmodSync(folder, 0o1777);
  const { status } = spawnSync(process.execPath, [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder, ...settings },
  });
  rmSync(folder, { recursive: true, force: true });
  return status ?? 1;
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
