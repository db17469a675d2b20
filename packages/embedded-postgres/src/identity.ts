import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import { findUidOfNobody, hasAccount } from './accounts.js';
import { type Binaries, copyBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './error.js';
import { exists, messageOf, type Owner } from './files.js';
import { ENVIRONMENT, runProgram } from './run-program.js';

/** PostgreSQL refuses to run as root; these are the ways to run it when we are root. */
export type RootMethod = 'uid' | 'namespace';

/** A user under whom programs are run. */
export interface Runner {
  /** The user who has to own the files. Undefined when it is the present user, without root. */
  readonly owner: Owner | undefined;
  spawn(program: string, args: readonly string[], how: { folder: string; stdio: StdioOptions }): ChildProcess;
}

/** How the server is run: as which user, from which binaries, and by which name it sees its folder. */
export interface Identity extends Runner {
  readonly binaries: Binaries;
  /** For people, in the log. */
  readonly description: string;
  /** The name under which the server reaches a folder that is its working directory. */
  pathFor(folder: string): string;
  /** The user who runs initdb: the same, unless that uid has no name, which initdb needs. */
  findMaker(): Promise<Runner>;
}

export interface RootOptions {
  readonly binaries: Binaries;
  readonly serverUser: Owner;
  readonly dataDirOwner: Owner;
  /** The folder that will hold the data folder. */
  readonly parent: string;
  readonly rootMethod: RootMethod | undefined;
  readonly procCwd: boolean | undefined;
  readonly sharedPlaces: readonly string[] | undefined;
}

export const SHARED_PLACES: readonly string[] = ['/var/lib/perennial', '/var/tmp/perennial'];

const UNSHARE = ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'] as const;

/**
 * A process keeps its working directory when it gives up root, whatever the folders above allow. Under this name the
 * server finds its data by that, also below a 0700 home, and nothing above it has to be opened to others.
 */
const PROC_CWD = '/proc/self/cwd';

export async function hasProcCwd(): Promise<boolean> {
  return process.platform === 'linux' && (await exists(PROC_CWD));
}

/** Runs the server under the given uid, if necessary from a copy of the binaries; else in a user namespace. */
export async function findIdentityForRoot(options: RootOptions): Promise<Identity> {
  const { binaries, serverUser: owner, parent, rootMethod } = options;
  const procCwd = options.procCwd ?? (await hasProcCwd());
  const reasons: string[] = [];

  const tryUid = async (from: Binaries): Promise<Identity | undefined> => {
    const failure = await failureOf(from.postgres, ['--version'], owner);
    if (failure === undefined) return createUidIdentity(from, owner, procCwd);
    reasons.push(`as uid ${owner.uid}: ${failure}`);
    return undefined;
  };
  const tryCopy = async (): Promise<Identity | undefined> => {
    // Where nothing runs under that uid, a copy is of no use.
    if ((await failureOf('/bin/sh', ['-c', ':'], owner)) !== undefined) return undefined;
    try {
      return await tryUid(await copyBinaries(binaries, options.sharedPlaces ?? SHARED_PLACES));
    } catch (error) {
      reasons.push(messageOf(error));
      return undefined;
    }
  };
  const tryNamespace = async (): Promise<Identity | undefined> => {
    const [program, ...args] = UNSHARE;
    const failure = await failureOf(program, [...args, binaries.postgres, '--version']);
    if (failure === undefined) return createNamespaceIdentity(binaries);
    reasons.push(`in a user namespace: ${failure}`);
    return undefined;
  };

  let identity: Identity | undefined;
  if (rootMethod !== 'namespace') {
    const failure = procCwd ? undefined : await failureToEnter(parent, owner);
    if (failure === undefined) identity = (await tryUid(binaries)) ?? (await tryCopy());
    else reasons.push(`as uid ${owner.uid}: ${failure}`);
  }
  // A namespace keeps the files root's, so it would lock the owner out of a folder that is not root's.
  if (identity === undefined && rootMethod !== 'uid' && options.dataDirOwner.uid === 0) identity = await tryNamespace();
  if (identity !== undefined) return identity;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and no way to give up root works here ' +
      `(${reasons.join('; ')}): start as an ordinary user, or set DATABASE_URL`,
  );
}

function credentials(owner: Owner): { uid: number; gid: number } {
  return { uid: owner.uid | 0, gid: owner.gid | 0 }; // spawn takes signed numbers, chown unsigned ones
}

/** One line that says why the program does not run. Undefined if it runs. */
async function failureOf(program: string, args: readonly string[], owner?: Owner): Promise<string | undefined> {
  try {
    await runProgram(program, args, { cwd: '/', ...(owner === undefined ? {} : credentials(owner)) });
    return undefined;
  } catch (error) {
    return messageOf(error)
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim();
  }
}

export async function failureToEnter(folder: string, owner: Owner): Promise<string | undefined> {
  return failureOf('/bin/sh', ['-c', 'cd "$0"', folder], owner);
}

/** Detached: a session of its own, so that Ctrl-C in the terminal reaches the service first and not the database. */
function spawnOptions(folder: string, stdio: StdioOptions): SpawnOptions {
  return { cwd: folder, stdio, detached: true, env: { ...ENVIRONMENT } };
}

export function createOwnIdentity(binaries: Binaries): Identity {
  const runner: Runner = {
    owner: undefined,
    spawn: (program, args, { folder, stdio }) => spawn(program, args, spawnOptions(folder, stdio)),
  };
  return {
    ...runner,
    binaries,
    description: 'as this user',
    pathFor: (folder) => folder,
    findMaker: async () => runner,
  };
}

function createUidIdentity(binaries: Binaries, owner: Owner, procCwd: boolean): Identity {
  const under = (user: Owner): Runner => ({
    owner: user,
    spawn: (program, args, { folder, stdio }) =>
      spawn(program, args, { ...spawnOptions(folder, stdio), ...credentials(user) }),
  });
  return {
    ...under(owner),
    binaries,
    description: `under uid ${owner.uid}`,
    pathFor: (folder) => (procCwd ? PROC_CWD : folder),
    // With the server's own group: the other processes of nobody have another one, so they can neither trace this one
    // nor reach its files through /proc.
    findMaker: async () =>
      under((await hasAccount(owner.uid)) ? owner : { uid: await findUidOfNobody(), gid: owner.gid }),
  };
}

/**
 * The process is uid 65534 in its own namespace, without any capability, but for the files outside still root: last
 * choice, because it could write what root owns.
 */
function createNamespaceIdentity(binaries: Binaries): Identity {
  const [unshare, ...options] = UNSHARE;
  const runner: Runner = {
    owner: { uid: 0, gid: 0 },
    spawn: (program, args, { folder, stdio }) =>
      spawn(unshare, [...options, program, ...args], spawnOptions(folder, stdio)),
  };
  return {
    ...runner,
    binaries,
    description: 'in a user namespace',
    pathFor: (folder) => folder,
    findMaker: async () => runner,
  };
}
