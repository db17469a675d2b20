import { type ChildProcess, execFile, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { PlainError } from '../../plain-error.js';
import { type Binaries, copyBinaries } from './binaries.js';
import { exists, messageOf, type Owner } from './files.js';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root; these are the ways to run it when we are root. */
export type RootMethod = 'uid' | 'namespace';

/** How the server is run: as which user, from which binaries, and by which name it sees its folder. */
export interface Identity {
  readonly binaries: Binaries;
  /** Who has to own the server's files; undefined when that is ourselves, without root. */
  readonly owner: Owner | undefined;
  /** For people, in the log. */
  readonly description: string;
  /** The name under which the server reaches a folder that is its working directory. */
  seenAs(folder: string): string;
  spawn(program: string, args: readonly string[], how: { folder: string; stdio: StdioOptions }): ChildProcess;
}

export interface IdentityOptions {
  readonly binaries: Binaries;
  readonly dataDirOwner: Owner;
  /** The folder that will hold the data folder. */
  readonly parent: string;
  readonly rootMethod: RootMethod | undefined;
  readonly procCwd: boolean | undefined;
  readonly sharedPlaces: readonly string[] | undefined;
}

export const SHARED_PLACES: readonly string[] = ['/var/lib/perennial', '/var/tmp/perennial'];

/** Nothing of our own environment reaches the server: no PGDATA, no secrets in /proc/PID/environ. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
};

const UNSHARE = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'] as const;

/**
 * A process keeps its working directory when it gives up root, whatever the folders above allow. Under this name the
 * server finds its data by that, also below a 0700 home, and nothing above it has to be opened to others.
 */
const PROC_CWD = '/proc/self/cwd';

export async function hasProcCwd(): Promise<boolean> {
  return process.platform === 'linux' && (await exists(PROC_CWD));
}

export async function chooseIdentity(options: IdentityOptions): Promise<Identity> {
  if (process.getuid?.() !== 0) return asOurselves(options.binaries);

  const owner = await serverUser(options.dataDirOwner);
  const procCwd = options.procCwd ?? (await hasProcCwd());
  const reasons: string[] = [];

  const tryUid = async (binaries: Binaries): Promise<Identity | undefined> => {
    if (!procCwd && !(await canEnter(options.parent, owner))) {
      reasons.push(`uid ${owner.uid} cannot enter ${options.parent}`);
      return undefined;
    }
    const failure = await failureOf(binaries.postgres, ['--version'], owner);
    if (failure === undefined) return asUid(binaries, owner, procCwd);
    reasons.push(`as uid ${owner.uid}: ${failure}`);
    return undefined;
  };
  const tryNamespace = async (): Promise<Identity | undefined> => {
    const [program, ...args] = UNSHARE;
    const failure = await failureOf(program, [...args, options.binaries.postgres, '--version'], undefined);
    if (failure === undefined) return inNamespace(options.binaries);
    reasons.push(`in a user namespace: ${failure}`);
    return undefined;
  };

  let identity: Identity | undefined;
  if (options.rootMethod !== 'namespace') identity = await tryUid(options.binaries);
  // A namespace keeps the files root's, so it would lock the owner out of a folder that is not root's.
  if (identity === undefined && options.rootMethod !== 'uid' && options.dataDirOwner.uid === 0) {
    identity = await tryNamespace();
  }
  if (identity === undefined && options.rootMethod !== 'namespace') {
    try {
      identity = await tryUid(await copyBinaries(options.binaries, options.sharedPlaces ?? SHARED_PLACES));
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  if (identity !== undefined) return identity;
  throw new PlainError(
    'PostgreSQL does not run as root, and no way to give up root works here ' +
      `(${reasons.join('; ')}): start as an ordinary user, or set DATABASE_URL`,
  );
}

/**
 * A folder of an ordinary user is served under that user, so that starting once with sudo spoils nothing; a folder of
 * root is served under nobody.
 */
export async function serverUser(dataDirOwner: Owner): Promise<Owner> {
  if (dataDirOwner.uid !== 0) return dataDirOwner;
  const id = async (flag: string): Promise<number> => {
    const { stdout } = await run('id', [flag, 'nobody'], { env: ENVIRONMENT });
    const value = Number.parseInt(stdout, 10);
    if (!Number.isInteger(value) || value === 0) throw new Error('no such user');
    return value >>> 0; // macOS has nobody at -2
  };
  return Promise.all([id('-u'), id('-g')]).then(
    ([uid, gid]) => ({ uid, gid }),
    () => ({ uid: 65534, gid: 65534 }),
  );
}

function credentials(owner: Owner): { uid: number; gid: number } {
  return { uid: owner.uid | 0, gid: owner.gid | 0 }; // spawn takes signed numbers, chown unsigned ones
}

/** One line saying why the program does not run, undefined if it does. */
async function failureOf(
  program: string,
  args: readonly string[],
  owner: Owner | undefined,
): Promise<string | undefined> {
  try {
    await run(program, args, { env: ENVIRONMENT, cwd: '/', ...(owner === undefined ? {} : credentials(owner)) });
    return undefined;
  } catch (error) {
    return messageOf(error)
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim();
  }
}

export async function canEnter(folder: string, owner: Owner): Promise<boolean> {
  return (await failureOf('/bin/sh', ['-c', 'cd "$0"', folder], owner)) === undefined;
}

/** Detached: a session of its own, so that Ctrl-C in the terminal reaches the service first and not the database. */
function spawnOptions(folder: string, stdio: StdioOptions): SpawnOptions {
  return { cwd: folder, stdio, detached: true, env: { ...ENVIRONMENT } };
}

function asOurselves(binaries: Binaries): Identity {
  return {
    binaries,
    owner: undefined,
    description: 'as this user',
    seenAs: (folder) => folder,
    spawn: (program, args, { folder, stdio }) => spawn(program, args, spawnOptions(folder, stdio)),
  };
}

function asUid(binaries: Binaries, owner: Owner, procCwd: boolean): Identity {
  return {
    binaries,
    owner,
    description: `under uid ${owner.uid}`,
    seenAs: (folder) => (procCwd ? PROC_CWD : folder),
    spawn: (program, args, { folder, stdio }) =>
      spawn(program, args, { ...spawnOptions(folder, stdio), ...credentials(owner) }),
  };
}

/**
 * The process is uid 65534 in its own namespace, without any capability, but for the files outside still root: second
 * choice, because it could write what root owns.
 */
function inNamespace(binaries: Binaries): Identity {
  const [unshare, ...options] = UNSHARE;
  return {
    binaries,
    owner: { uid: 0, gid: 0 },
    description: 'in a user namespace',
    seenAs: (folder) => folder,
    spawn: (program, args, { folder, stdio }) =>
      spawn(unshare, [...options, program, ...args], spawnOptions(folder, stdio)),
  };
}
