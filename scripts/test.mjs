// Everything that must hold: formatting and lint, types, then the tests. Arguments go to vitest.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from './chromium.mjs';
import { root } from './prepare.mjs';
import './lint.mjs';
import './typecheck.mjs';

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

const folder = temporaryFolder();
// As the system's own: the embedded server runs under a user of its own.
chmodSync(folder, 0o1777);
const { status } = spawnSync(
  process.execPath,
  [`${root}/node_modules/vitest/vitest.mjs`, 'run', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CHROMIUM: chromium(), TMPDIR: folder } },
);
rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);
