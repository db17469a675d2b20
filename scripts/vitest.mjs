import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './prepare.mjs';

/** Runs tests with a new temporary folder for their files. Returns the exit code. */
export function runTests(args, settings = {}) {
  const folder = temporaryFolder();
  // Lets every user write to the folder, as to the system's temporary folder: if the tests run as root, the embedded
  // server runs as another user.
  chmodSync(folder, 0o1777);
  const { status } = spawnSync(process.execPath, [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder, ...settings },
  });
  rmSync(folder, { recursive: true, force: true });
  return status ?? 1;
}

/** Creates a folder for the tests' databases: in memory if there is room, because tests mostly wait for the disk. */
function temporaryFolder() {
  const inMemory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize > 8 * 2 ** 30) return mkdtempSync(path.join(inMemory, 'perennial-'));
  } catch {
    // There is no /dev/shm.
  }
  return mkdtempSync(path.join(os.tmpdir(), 'perennial-'));
}
