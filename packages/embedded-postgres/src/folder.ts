import { randomBytes } from 'node:crypto';
import {
  access,
  chown,
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './error.js';
import type { User } from './processes.js';

/** The paths and the owner of the files that this package keeps in DATA_DIR. */
export interface Folder {
  readonly dataDir: string;
  readonly owner: User;
  /** The server's data directory. */
  readonly data: string;
  readonly log: string;
  readonly password: string;
}

export async function openFolder(path: string): Promise<Folder> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Uses the real path, because a running server is recognised by the path in its command line.
  const dataDir = await realpath(path);
  const { uid, gid } = await stat(dataDir);
  const data = join(dataDir, 'postgres');
  const folder = { dataDir, owner: { uid, gid }, data, log: join(dataDir, 'postgres.log') };
  try {
    return { ...folder, password: await readOrCreatePassword(folder) };
  } catch (error) {
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error;
    throw new EmbeddedPostgresError(
      `the database in ${dataDir} belongs to another user (uid ${uid}, this is uid ${process.getuid?.()}): ` +
        'start as that user or choose another DATA_DIR',
    );
  }
}

/** Returns whether the folder has a complete database. Returns true too if the folder cannot be read. */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  return access(join(dataDir, 'postgres', 'PG_VERSION')).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns the password. Creates it only if there is no database yet, because a database keeps its password. */
async function readOrCreatePassword({ dataDir, data, owner }: Omit<Folder, 'password'>): Promise<string> {
  const file = join(dataDir, 'postgres-password');
  if (!(await exists(file)) && !(await exists(data))) await createPassword(file, owner);
  const password = (await exists(file)) ? (await readFile(file, 'utf8')).trim() : '';
  if (password !== '') return password;
  throw new EmbeddedPostgresError(
    `${file} is missing or empty: put it back from a backup, or move it and ${data} away to start with an empty database`,
  );
}

/** Creates the password file. If several processes do so, the first one that links its file wins. */
async function createPassword(file: string, owner: User): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    await giveTo(owner, temporary);
    await link(temporary, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Gives a file that root created to the folder's owner, so that the owner can start the server without root later. */
async function giveTo({ uid, gid }: User, path: string): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

const LOG_LIMIT = 10 * 1024 * 1024;

/** Opens the log file for the server, so that the server's user needs no rights to the log's folder. */
export async function openLog({ log, owner }: Folder): Promise<FileHandle> {
  const found = await stat(log).catch(() => undefined);
  if (found !== undefined && found.size > LOG_LIMIT) await rename(log, `${log}.1`);
  const handle = await open(log, 'a', 0o600);
  await giveTo(owner, log);
  return handle;
}
