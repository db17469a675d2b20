import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { hasAccount } from './accounts.js';
import { EmbeddedPostgresError } from './error.js';
import type { Owner } from './files.js';
import type { Folder } from './folder.js';

/** Uids that neither distributions nor systemd nor useradd give out, and that a container with only 65,536 of them has too. */
const FIRST = 60_706;
const COUNT = 478;
/** Earlier versions took uids up to here. */
const LAST_EARLIER = 99_999;

/**
 * The user under whom root runs the server: the owner of the data folder, so that an ordinary user can go on after a start
 * with sudo, or a uid of its own if the folder belongs to root. A database that has such a uid keeps it.
 */
export async function chooseServerUser({ dataDir, data, owner }: Folder): Promise<Owner> {
  if (owner.uid !== 0) return owner;
  const { uid, gid } = await stat(data).catch(() => owner);
  return uid >= FIRST && uid <= LAST_EARLIER && uid !== 65_534 ? { uid, gid } : findOwnUid(dataDir);
}

/**
 * A uid that no account has, and so nobody but root can take, with the group of the same number. It follows from the
 * folder's path: all who start the server at the same time must come to the same one.
 */
async function findOwnUid(dataDir: string): Promise<Owner> {
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE();
  for (let step = 0; step < COUNT; step += 1) {
    const uid = FIRST + ((start + step) % COUNT);
    if (!(await hasAccount(uid))) return { uid, gid: uid };
  }
  throw new EmbeddedPostgresError(
    `every uid from ${FIRST} to ${FIRST + COUNT - 1} belongs to somebody: start as an ordinary user, or set DATABASE_URL`,
  );
}
