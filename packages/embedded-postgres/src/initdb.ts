import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './error.js';
import { exists, type Folder } from './folder.js';
import { type Identity, pathFor } from './identity.js';
import { findUidOfNobody, hasAccount, isRunning, runProgram, type User } from './processes.js';

export const SERVER_USER = 'perennial';

/** Settings written into postgresql.conf once, for operators to change. Fixed settings are on the command line. */
const TUNABLES: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '100',
  max_wal_size: '4GB',
  min_wal_size: '1GB',
  timezone: 'Asia/Shanghai',
  log_timezone: 'Asia/Shanghai',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
};

const HBA = `# TYPE  DATABASE  USER  ADDRESS       METHOD
host    all       all   127.0.0.1/32  scram-sha-256
`;

const HALF_MADE = 'postgres.new-';

/**
 * Creates the database cluster under a temporary name and renames it when it is complete. If several processes do so,
 * the first rename wins, and the others remove their clusters.
 */
export async function ensureCluster(folder: Folder, identity: Identity, log: (line: string) => void): Promise<void> {
  const { data, dataDir } = folder;
  await removeHalfMade(dataDir);
  if (await exists(join(data, 'PG_VERSION'))) return;
  log('creating the database');
  const within = join(dataDir, `${HALF_MADE}${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(within, { mode: 0o700 });
  try {
    await rename(await initdb(folder, within, identity), data);
    const parent = await open(dataDir);
    await parent.sync().finally(() => parent.close()); // makes the new name durable
  } catch (error) {
    if (await exists(join(data, 'PG_VERSION'))) return;
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
    throw new EmbeddedPostgresError(
      `${data} exists but contains no database: move it away, or choose another DATA_DIR`,
    );
  } finally {
    await rm(within, { recursive: true, force: true });
  }
}

/** Removes clusters that a crash left incomplete. */
async function removeHalfMade(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(HALF_MADE) || (await isRunning(Number.parseInt(name.slice(HALF_MADE.length), 10)))) continue;
    // Ignores errors: an initdb that outlived its parent may still be writing. The next start removes the rest.
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Creates the cluster in a private folder and gives it to the server's user. */
async function initdb({ password }: Folder, within: string, { binaries, user }: Identity): Promise<string> {
  const target = join(within, 'cluster');
  const passwordFile = join(within, 'password');
  const maker = user && (await findMaker(user));
  refuseShellCharacters(binaries.native);
  await mkdir(target, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== undefined && maker !== undefined) {
    for (const path of [target, passwordFile]) await chown(path, maker.uid, maker.gid);
    await chown(within, user.uid, user.gid);
    await chmod(within, 0o710); // they share the group
  }
  const args = [
    `--pgdata=${pathFor(target, user)}`,
    `--username=${SERVER_USER}`,
    '--pwfile=../password',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    ...Object.entries(TUNABLES).map(([key, value]) => `--set=${key}=${value}`),
  ];
  await runProgram(join(binaries.native, 'bin', 'initdb'), args, { cwd: target }, maker).catch((error: Error) => {
    const line = error.message.split('\n').findLast((one) => /error|fatal|panic/i.test(one));
    throw new EmbeddedPostgresError(`the database cannot be created: ${line ?? error.message}`);
  });
  await writeFile(join(target, 'pg_hba.conf'), HBA); // in place, so its owner stays
  if (user !== undefined) await changeOwner(target, user);
  return target;
}

/** initdb starts the server through a shell, with the path of the server in double quotes. */
function refuseShellCharacters(native: string): void {
  const [character] = /["$`]/.exec(native) ?? [];
  if (character === undefined) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot create a database from ${native}, because the path contains ${character}: ` +
      'install into another folder, or set DATABASE_URL',
  );
}

/**
 * Returns the user that runs initdb, which requires an account. If the server's uid has no account, this is `nobody`
 * with the server's group. Other processes of `nobody` have a different group, so they can neither trace initdb nor
 * reach its files through /proc.
 */
async function findMaker(user: User): Promise<User> {
  return (await hasAccount(user.uid)) ? user : { uid: await findUidOfNobody(), gid: user.gid };
}

/** Changes the owner of a folder with its files. Ignores failures: PostgreSQL then refuses to start and says why. */
export async function changeOwner(path: string, { uid, gid }: User): Promise<void> {
  await runProgram('chown', ['-Rh', `${uid}:${gid}`, path]).catch(() => undefined);
}

/** Throws if the cluster has a different major version. The server itself would only write a log line and exit. */
export async function checkVersion({ data }: Folder, { binaries }: Identity): Promise<void> {
  const made = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  const [major] = binaries.version.split('.', 1);
  if (made === major) return;
  throw new EmbeddedPostgresError(
    `the database in ${data} was created by PostgreSQL ${made}, but this is ${major}: ` +
      'dump it with the old version and load it into the new one, or choose another DATA_DIR',
  );
}
