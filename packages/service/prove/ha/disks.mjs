import { execFile } from 'node:child_process';
import { chown, statfs, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DISK_BYTES = 2 * 1024 ** 3;
const BALLAST = 'ballast';

/**
 * Mounts a separate file system on a folder, so that filling it affects nothing else. The file system is in a sparse
 * file beside the folder. Needs root.
 */
export async function mountDisk(folder, { uid, gid }) {
  const file = `${folder}.ext4`;
  await writeFile(file, '', { mode: 0o600 });
  await truncate(file, DISK_BYTES);
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', file]);
  await run('mount', ['-o', 'loop', file, folder]);
  await chown(folder, uid, gid);
  return folder;
}

/** Takes all free space. Returns a function that frees it. */
export async function fillDisk(folder) {
  const file = path.join(folder, BALLAST);
  const { bavail, bsize } = await statfs(folder);
  // Tries again with half the size, because other processes may have taken some blocks. Ends when less than one block
  // is left.
  for (let bytes = bavail * bsize; bytes >= bsize; bytes = Math.floor(bytes / 2)) {
    await run('fallocate', ['--offset', String(await sizeOf(file)), '--length', String(bytes), file]).catch(
      () => undefined,
    );
  }
  return () => run('rm', ['-f', file]);
}

async function sizeOf(file) {
  const { stdout } = await run('stat', ['-c', '%s', file]).catch(() => ({ stdout: '0' }));
  return Number(stdout);
}

export const unmountDisk = (folder) => run('umount', ['--lazy', folder]).catch(() => undefined);
