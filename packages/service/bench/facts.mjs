import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { median } from './table.mjs';

const FILE_SYSTEMS = new Map([
  [0xef53, 'ext'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlay'],
  [0x01021994, 'tmpfs'],
]);
const WRITES = 50;

/** Returns the facts about this machine that the figures depend on. */
export async function machineFacts() {
  const [cpu] = os.cpus();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-'));
  const { type } = await statfs(folder);
  const facts = {
    cores: os.availableParallelism(),
    cpu: cpu?.model.trim() || 'unknown',
    node: process.version,
    system: `${os.type()} ${os.release()}`,
    fileSystem: FILE_SYSTEMS.get(type) ?? `type 0x${type.toString(16)}`,
    syncMs: syncMs(path.join(folder, 'sync-probe')),
    loadAverage: os.loadavg()[0] ?? 0,
  };
  await rm(folder, { recursive: true, force: true });
  return facts;
}

/** Measures the duration of an fsync. Every admitted request commits, so a single client waits at least this long. */
function syncMs(file) {
  const page = Buffer.alloc(8192, 1);
  const fd = openSync(file, 'w');
  try {
    return median(
      Array.from({ length: WRITES }, () => {
        const since = performance.now();
        writeSync(fd, page, 0, page.length, 0);
        fdatasyncSync(fd);
        return performance.now() - since;
      }),
    );
  } finally {
    closeSync(fd);
    rmSync(file);
  }
}
