import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, copyBinaries, locateBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './error.js';
import type { Folder } from './folder.js';
import { hasAccount, runProgram, type User } from './processes.js';

export interface Identity {
  readonly binaries: Binaries;
  /** The user that runs the server and owns its files. Undefined means the current user, who is not root. */
  readonly user?: User;
}

/** Overrides for tests. */
export interface Internals {
  readonly native?: string;
  /** The folder for a copy of the binaries. Its parent must be writable only by root. */
  readonly sharedPlace?: string;
}

export async function findIdentity(folder: Folder, internals: Internals): Promise<Identity> {
  const binaries = await locateBinaries(`${process.platform}-${process.arch}`, internals.native);
  if (process.getuid?.() !== 0) return { binaries };
  // Chooses another user, because PostgreSQL refuses to run as root.
  const user = await chooseServerUser(folder);
  if ((await findObstacle(folder, binaries, user)) === undefined) return { binaries, user };
  const copy = await copyBinaries(binaries, internals.sharedPlace ?? '/var/lib/perennial-postgres');
  const obstacle = await findObstacle(folder, copy, user);
  if (obstacle === undefined) return { binaries: copy, user };
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and uid ${user.uid} cannot run it in ${folder.dataDir} (${obstacle}): ` +
      'start as an ordinary user, choose another DATA_DIR, or set DATABASE_URL',
  );
}

/** Returns why the user cannot run the server in the folder, in one line. Returns undefined if it can. */
async function findObstacle({ dataDir }: Folder, { native }: Binaries, user: User): Promise<string | undefined> {
  const place = process.platform === 'linux' ? '/' : dataDir;
  const args = ['-c', 'cd "$0" && exec "$1" --version', place, join(native, 'bin', 'postgres')];
  return runProgram('/bin/sh', args, { cwd: '/' }, user).then(
    () => undefined,
    (error: Error) => error.message.replaceAll(/(?<!\s)\s*\n\s*/g, ' ').trim(),
  );
}

/**
 * Returns the path by which the server reaches its data folder. If the server runs as another user on Linux, this is
 * its working directory: a process keeps access to its working directory when it gives up root, so no parent folder
 * needs wider permissions.
 */
export function pathFor(folder: string, user: User | undefined): string {
  return user !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : folder;
}

/**
 * Uids that neither distributions nor systemd nor useradd assign. They are below 65,536, so containers have them too.
 */
const FIRST = 60_706;
const COUNT = 478;

/**
 * Returns the user under which root runs the server. This is the owner of the data folder, so that an ordinary user can
 * continue after a start with sudo. If root owns the data folder, the user is the reserved uid that already owns the
 * database's files. If no reserved uid owns them, the user is a new reserved uid.
 */
async function chooseServerUser({ dataDir, data, owner }: Folder): Promise<User> {
  if (owner.uid !== 0) return owner;
  const { uid, gid } = await stat(data).catch(() => owner);
  return uid >= FIRST && uid < FIRST + COUNT ? { uid, gid } : findOwnUid(dataDir);
}

/**
 * Returns a user whose uid has no account, so that only root can become this user. The gid is the same number. Derives
 * the uid from the folder's path, because concurrent starts must choose the same uid.
 */
async function findOwnUid(dataDir: string): Promise<User> {
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE();
  for (let step = 0; step < COUNT; step += 1) {
    const uid = FIRST + ((start + step) % COUNT);
    if (!(await hasAccount(uid))) return { uid, gid: uid };
  }
  throw new EmbeddedPostgresError(
    `every uid from ${FIRST} to ${FIRST + COUNT - 1} is in use: start as an ordinary user, or set DATABASE_URL`,
  );
}
