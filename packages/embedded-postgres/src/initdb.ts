import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedPostgresError } from './error.js';
import { changeOwner, errorCode, exists, syncFolder } from './files.js';
import { type Folder, openPasswordFile } from './folder.js';
import type { Identity } from './identity.js';

export const SERVER_USER = 'perennial';

/**
 * Written into postgresql.conf once, where an operator may change them. Settings that must not change are on the command line.
 */
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

/** How long the initdb of another process is waited for before this process makes a cluster too. */
const MAX_WAIT_MS = 20_000;

const halfMadePrefix = (data: string): string => `${basename(data)}.new-`;

/** The processes that are making a cluster beside this data folder, by the names of their half-made folders. */
async function findMakers(data: string): Promise<{ name: string; pid: number; alive: boolean }[]> {
  const prefix = halfMadePrefix(data);
  const names = await readdir(dirname(data));
  return names
    .filter((name) => name.startsWith(prefix))
    .sort()
    .map((name) => {
      const pid = Number.parseInt(name.slice(prefix.length), 10);
      return { name, pid, alive: pid > 0 && processExists(pid) };
    });
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Removes folders that were left half-made by a crash. */
export async function removeHalfMade(folder: Folder): Promise<void> {
  for (const { name, alive } of await findMakers(folder.data)) {
    if (alive) continue;
    // An initdb that outlived its parent may still be writing: what stays is removed the next time.
    await rm(join(dirname(folder.data), name), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/**
 * A cluster gets its name only when it is complete. Of several processes one makes it and the others wait for it; if two make
 * one after all, the first rename wins and the other process removes its own.
 */
export async function ensureCluster(
  folder: Folder,
  identity: () => Promise<Identity>,
  log: (line: string) => void,
): Promise<void> {
  const { data } = folder;
  const parent = dirname(data);
  const name = `${halfMadePrefix(data)}${process.pid}-${randomBytes(4).toString('hex')}`;
  const mine = join(parent, name);
  const since = performance.now();
  try {
    for (let announced = false; ; ) {
      if (await exists(join(data, 'PG_VERSION'))) return;
      await removeHalfMade(folder);
      const first = (await findMakers(data)).find((maker) => maker.alive);
      const myTurn = first === undefined || first.name === name || performance.now() - since > MAX_WAIT_MS;
      if (announced && myTurn) break;
      if (myTurn) {
        // Announce, then look once more: of several that announce at the same time the first name goes ahead.
        await mkdir(mine, { mode: 0o700 });
        announced = true;
      } else await pause(50);
    }
    const runAs = await identity();
    log('creating the database');
    const cluster = await initdb(folder, mine, runAs);
    try {
      await rename(cluster, data);
      await syncFolder(parent);
    } catch (error) {
      if (await exists(join(data, 'PG_VERSION'))) return;
      if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
      throw new EmbeddedPostgresError(
        `${data} is there but holds no database: move it away, or choose another DATA_DIR`,
      );
    }
  } finally {
    await rm(mine, { recursive: true, force: true });
  }
}

/** Makes the cluster inside a folder that only its makers can enter, and gives it to the server's user. */
async function initdb(folder: Folder, within: string, identity: Identity): Promise<string> {
  const { owner } = identity;
  const maker = await identity.findMaker();
  const target = join(within, 'cluster');
  await mkdir(target, { mode: 0o700 });
  if (owner !== undefined && maker.owner !== undefined) {
    await chown(target, maker.owner.uid, maker.owner.gid);
    await chown(within, owner.uid, owner.gid);
    await chmod(within, 0o710); // they share the group
  }
  const password = await openPasswordFile(folder, maker.owner);
  try {
    const args = [
      `--pgdata=${identity.pathFor(target)}`,
      `--username=${SERVER_USER}`,
      `--pwfile=${process.platform === 'linux' ? '/proc/self/fd/3' : '/dev/fd/3'}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      ...Object.entries(TUNABLES).map(([key, value]) => `--set=${key}=${value}`),
    ];
    const child = maker.spawn(identity.binaries.initdb, args, {
      folder: target,
      stdio: ['ignore', 'ignore', 'pipe', password.fd],
    });
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk.toString()}`.slice(-4000);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) {
      const lines = complaint.split('\n').filter((line) => /error|fatal|panic/i.test(line));
      throw new EmbeddedPostgresError(
        `the database cannot be created: ${lines.at(-1) ?? (complaint.trim() || `initdb ended with ${code}`)}`,
      );
    }
  } finally {
    await password.close();
  }
  await writeFile(join(target, 'pg_hba.conf'), HBA); // in place, so its owner stays
  if (owner !== undefined && owner.uid !== maker.owner?.uid) await changeOwner(target, owner);
  return target;
}

/** A cluster of another major version would make the server end at each start with a line in a log. */
export async function checkVersion(folder: Folder, identity: Identity): Promise<void> {
  const made = (await readFile(join(folder.data, 'PG_VERSION'), 'utf8')).trim();
  const major = identity.binaries.version.split('.', 1)[0];
  if (made === major) return;
  throw new EmbeddedPostgresError(
    `the database in ${folder.data} was made by PostgreSQL ${made}, and this is ${major}: ` +
      'dump it with the old version and load it into the new one, or choose another DATA_DIR',
  );
}
