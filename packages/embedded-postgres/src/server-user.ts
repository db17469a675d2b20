import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hasAccount } from './accounts.js';
import { EmbeddedPostgresError } from './error.js';
import type { Owner } from './files.js';

interface Range {
  readonly first: number;
  readonly count: number;
}

/**
 * Uids that neither distributions nor systemd nor useradd nor directories of users give out: many where there are any,
 * and few in a container that has no more than the usual 65,536.
 */
const RANGES: readonly [many: Range, few: Range] = [
  { first: 65_536, count: 34_464 },
  { first: 60_706, count: 478 },
];

const isIn = ({ first, count }: Range, id: number): boolean => id >= first && id < first + count;

export const isOwnUid = (uid: number): boolean => RANGES.some((range) => isIn(range, uid));

/**
 * The user under whom root runs the server: the owner of the data folder, so that an ordinary user can go on after a start
 * with sudo, or a uid of its own if the folder belongs to root.
 */
export async function chooseServerUser(dataDir: string, owner: Owner): Promise<Owner> {
  return owner.uid !== 0 ? owner : findOwnUid(dataDir);
}

/**
 * A uid that no account has, and so nobody but root can take, with the group of the same number. It follows from the
 * folder's path: all who start the server at the same time must come to the same one, and a copy of the folder to another.
 */
async function findOwnUid(dataDir: string): Promise<Owner> {
  const { first, count } = await findUidRange();
  const forUsers = await readNamespaceIds();
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE();
  for (let step = 0; step < count; step += 1) {
    const uid = first + ((start + step) % count);
    if (!forUsers.some((range) => isIn(range, uid)) && !(await hasAccount(uid))) return { uid, gid: uid };
  }
  throw new EmbeddedPostgresError(
    `every uid from ${first} to ${first + count - 1} belongs to somebody: start as an ordinary user, or set DATABASE_URL`,
  );
}

async function findUidRange(): Promise<Range> {
  const [many, few] = RANGES;
  const text = await readFile('/proc/self/uid_map', 'utf8').catch(() => '0 0 4294967295');
  const mapped = parseRanges(text, /^\s*(\d+)\s+\d+\s+(\d+)$/gm);
  return mapped.some((range) => isIn(range, many.first) && isIn(range, many.first + many.count - 1)) ? many : few;
}

/** Ids that users may take in user namespaces of their own. */
async function readNamespaceIds(): Promise<Range[]> {
  const files = ['/etc/subuid', '/etc/subgid'].map((path) => readFile(path, 'utf8').catch(() => ''));
  return parseRanges((await Promise.all(files)).join('\n'), /^[^:]*:(\d+):(\d+)$/gm);
}

function parseRanges(text: string, line: RegExp): Range[] {
  return [...text.matchAll(line)].map(([, first, count]) => ({ first: Number(first), count: Number(count) }));
}
