import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, copyBinaries, locateBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './error.js';
import type { Folder } from './folder.js';
import { hasAccount, runProgram, type User } from './processes.js';

/** How the server is run. */
export interface Identity {
  readonly binaries: Binaries;
  /** Runs the server and owns its files. Undefined when it is the present user, without root. */
  readonly user?: User;
}

/** For tests: what the launcher otherwise finds out by itself. */
export interface Internals {
  readonly native?: string;
  /** Where a copy of the binaries is made. Only root may write to the folder above. */
  readonly sharedPlace?: string;
}

export async function findIdentity(folder: Folder, internals: Internals): Promise<Identity> {
  const binaries = await locateBinaries(`${process.platform}-${process.arch}`, internals.native);
  if (process.getuid?.() !== 0) return { binaries };
  // PostgreSQL refuses to run as root.
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

/** Why the user cannot run the server there, in one line. Undefined if the user can. */
async function findObstacle({ dataDir }: Folder, { native }: Binaries, user: User): Promise<string | undefined> {
  const place = process.platform === 'linux' ? '/' : dataDir;
  const args = ['-c', 'cd "$0" && exec "$1" --version', place, join(native, 'bin', 'postgres')];
  return runProgram('/bin/sh', args, { cwd: '/' }, user).then(
    () => undefined,
    (error: Error) => error.message.replaceAll(/\s*\n\s*/g, ' ').trim(),
  );
}

/**
 * The name by which a program reaches the folder that is its working directory. A process keeps that directory when it gives up
 * root, whatever the folders above allow: nothing above has to be opened to others. Only Linux has such a name.
 */
export function pathFor(folder: string, user: User | undefined): string {
  return user !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : folder;
}

/** Uids that neither distributions nor systemd nor useradd give out, and that a container with only 65,536 of them has too. */
const FIRST = 60_706;
const COUNT = 478;

/**
 * The user under whom root runs the server: the owner of the data folder, so that an ordinary user can go on after a start
 * with sudo, or a uid of its own if the folder belongs to root. A database that has such a uid keeps it.
 */
async function chooseServerUser({ dataDir, data, owner }: Folder): Promise<User> {
  if (owner.uid !== 0) return owner;
  const { uid, gid } = await stat(data).catch(() => owner);
  return uid >= FIRST && uid < FIRST + COUNT ? { uid, gid } : findOwnUid(dataDir);
}

/**
 * A uid that no account has, and so nobody but root can take, with the group of the same number. It follows from the
 * folder's path: all who start the server at the same time must come to the same one.
 */
async function findOwnUid(dataDir: string): Promise<User> {
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE();
  for (let step = 0; step < COUNT; step += 1) {
    const uid = FIRST + ((start + step) % COUNT);
    if (!(await hasAccount(uid))) return { uid, gid: uid };
  }
  throw new EmbeddedPostgresError(
    `every uid from ${FIRST} to ${FIRST + COUNT - 1} belongs to somebody: start as an ordinary user, or set DATABASE_URL`,
  );
}
