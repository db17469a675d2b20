import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PlainError } from '../../plain-error.js';
import { hasAccount } from './accounts.js';
import type { Owner } from './files.js';
import { idsInUseOutside } from './processes.js';

/**
 * Uids that neither distributions nor systemd nor directories of users give out, and that a container with no more than
 * the usual 65,536 has as well.
 */
const FIRST = 60_706;
const LAST = 61_183;

/**
 * Under whom root has the server run: the owner of the data folder, so that starting once with sudo spoils nothing for
 * an ordinary user, and a uid of its own where that is root.
 */
export async function serverUser(folder: { dataDir: string; owner: Owner; data: string }): Promise<Owner> {
  return folder.owner.uid !== 0 ? folder.owner : findOwnUid(folder.dataDir, folder.data);
}

export function isOwnUid(uid: number): boolean {
  return uid >= FIRST && uid <= LAST;
}

/**
 * A uid that no account has and no process outside this folder, with the group of the same number. The folder's
 * path tells where to look first, so that every process that starts the server comes to the same one; the uid that
 * the files have already is kept.
 */
async function findOwnUid(dataDir: string, data: string): Promise<Owner> {
  const taken = idsInUseOutside([dataDir, dirname(data)], isOwnUid);
  const subordinate = await subordinateIds();
  for (const uid of candidates(dataDir, await ownerOf(data))) {
    if (taken.has(uid) || subordinate.some(({ first, count }) => uid >= first && uid < first + count)) continue;
    if (!(await hasAccount(uid))) return { uid, gid: uid };
  }
  throw new PlainError(`every uid from ${FIRST} to ${LAST} is in use: start as an ordinary user, or set DATABASE_URL`);
}

function* candidates(dataDir: string, present: number | undefined): Generator<number> {
  if (present !== undefined && isOwnUid(present)) yield present;
  const size = LAST - FIRST + 1;
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE() % size;
  for (let step = 0; step < size; step += 1) yield FIRST + ((start + step) % size);
}

async function ownerOf(data: string): Promise<number | undefined> {
  return stat(data).then(
    ({ uid }) => uid,
    () => undefined,
  );
}

/** Ids that users may take in user namespaces of their own: lines of NAME:FIRST:COUNT. */
async function subordinateIds(): Promise<{ first: number; count: number }[]> {
  const files = ['/etc/subuid', '/etc/subgid'].map((path) => readFile(path, 'utf8').catch(() => ''));
  const lines = (await Promise.all(files)).flatMap((text) => text.split('\n'));
  return lines.map((line) => {
    const [, first, count] = line.split(':');
    return { first: Number(first), count: Number(count) };
  });
}
