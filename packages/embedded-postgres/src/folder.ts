import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './error.js';
import { errorCode, exists, giveToOwnerOf, type Owner, syncFolder } from './files.js';

/** What the launcher keeps in DATA_DIR. */
export interface Folder {
  readonly dataDir: string;
  readonly owner: Owner;
  /** The server's own folder, normally DATA_DIR/postgres. */
  readonly data: string;
  readonly log: string;
  readonly password: string;
}

export async function openFolder(dataDir: string): Promise<Folder> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // One name for one folder: the marker in the server's command line is compared as text.
  const real = await realpath(dataDir);
  const { uid, gid } = await stat(real);
  const owner = { uid, gid };
  try {
    const password = await readOrCreatePassword(real);
    const data = await locateData(real);
    return { dataDir: real, owner, data, log: join(real, 'postgres.log'), password };
  } catch (error) {
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EPERM') throw error;
    throw new EmbeddedPostgresError(
      `the database in ${real} belongs to another user (uid ${uid}, this is uid ${process.getuid?.()}): ` +
        'start as that user or choose another DATA_DIR',
    );
  }
}

/** Whether there is a complete database. True also for a folder that cannot be read, which may have one. */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  return stat(join(await locateData(dataDir), 'PG_VERSION')).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

/**
 * The password is on the disk before there is a server, and never changes. Of several processes, the one that links its file
 * first has made it for all.
 */
async function readOrCreatePassword(dataDir: string): Promise<string> {
  const file = join(dataDir, 'postgres-password');
  const read = async (): Promise<string | undefined> => {
    try {
      return (await readFile(file, 'utf8')).trim();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  };
  const existing = await read();
  if (existing !== undefined && existing !== '') return existing;
  if (await exists(join(dataDir, 'postgres'))) {
    throw new EmbeddedPostgresError(
      `${file} is ${existing === undefined ? 'missing' : 'empty'}, but ${join(dataDir, 'postgres')} is there: ` +
        'put the file back from a backup, or move both away to start with an empty database',
    );
  }
  const temporary = await writeSecret(dataDir, `${randomBytes(24).toString('base64url')}\n`);
  try {
    await link(temporary, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dataDir);
  const made = await read();
  if (made === undefined || made === '') throw new EmbeddedPostgresError(`${file} cannot be read back`);
  return made;
}

async function writeSecret(dataDir: string, text: string): Promise<string> {
  const path = join(dataDir, `.secret-${process.pid}-${randomBytes(6).toString('hex')}`);
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await giveToOwnerOf(dataDir, path);
  return path;
}

/** The password for initdb: an open file that has no name any more, and that its reader may open again. */
export async function openPasswordFile(
  folder: Folder,
  reader: Owner | undefined,
): Promise<Awaited<ReturnType<typeof open>>> {
  const path = await writeSecret(folder.dataDir, `${folder.password}\n`);
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(path, 'r');
  } finally {
    await rm(path, { force: true });
  }
  if (reader !== undefined) await handle.chown(reader.uid, reader.gid);
  return handle;
}

/** DATA_DIR/postgres, unless an earlier version has put it elsewhere, as it did for root on macOS. */
async function locateData(dataDir: string): Promise<string> {
  const elsewhere = await readFile(join(dataDir, 'postgres-location'), 'utf8').catch(() => undefined);
  return elsewhere?.trim() ?? join(dataDir, 'postgres');
}

const LOG_LIMIT = 10 * 1024 * 1024;

/** Opened by us and passed to the server, so that the server needs no rights to the folder of its log. */
export async function openLog(folder: Folder): Promise<Awaited<ReturnType<typeof open>>> {
  const size = await stat(folder.log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT) await rename(folder.log, `${folder.log}.1`).catch(() => undefined);
  const handle = await open(folder.log, 'a', 0o600);
  await giveToOwnerOf(folder.dataDir, folder.log);
  return handle;
}

export async function readRememberedPort(folder: Folder): Promise<number | undefined> {
  const text = await readFile(join(folder.dataDir, 'postgres-port'), 'utf8').catch(() => '');
  const port = Number.parseInt(text, 10);
  return port > 0 && port < 65536 ? port : undefined;
}

export async function rememberPort(folder: Folder, port: number): Promise<void> {
  if ((await readRememberedPort(folder)) === port) return;
  const path = join(folder.dataDir, 'postgres-port');
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, `${port}\n`, { mode: 0o600 });
  await giveToOwnerOf(folder.dataDir, temporary);
  await rename(temporary, path);
}
