import { access, chmod, chown, cp, lchown, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes a rename or a new name in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Files that we make as root in a folder of another user are given to that user, who can then go on without root. */
export async function giveToOwnerOf(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) await chown(path, uid, gid);
}

/** A folder that everybody may enter, whatever our umask; folders that were there before stay as they are. */
export async function makeOpenFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o755 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await chmod(made, 0o755);
}

/** The top comes last: an interrupted change shows at the top and is done again at the next start. */
export async function changeOwner(path: string, owner: Owner): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    try {
      if (entry.isDirectory()) await changeOwner(inner, owner);
      else await lchown(inner, owner.uid, owner.gid);
    } catch (error) {
      // A process that was faster with the same change has started the server, which removes old files.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  await lchown(path, owner.uid, owner.gid);
}

export async function copyTree(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  // A strict umask or a 0700 original must not lock the others out of the copy.
  await openToAll(to);
}

async function openToAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const inner = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(inner);
    else if (entry.isFile()) await chmod(inner, ((await stat(inner)).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
  await chmod(folder, 0o755);
}
