import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import { findUidOfNobody, hasAccount } from './accounts.js';
import { type Binaries, copyBinaries } from './binaries.js';
import { EmbeddedPostgresError } from './error.js';
import { exists, messageOf, type Owner } from './files.js';
import { ENVIRONMENT, runProgram } from './run-program.js';

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
  /** The folder that will hold the data folder. */
  readonly parent: string;
  /** Where a copy of the binaries may be made. */
  readonly sharedPlaces: readonly string[] | undefined;
}

const SHARED_PLACES: readonly string[] = ['/var/lib/perennial', '/var/tmp/perennial'];

/**
 * A process keeps its working directory when it gives up root, whatever the folders above allow. Under this name the
 * server finds its data by that, also below a 0700 home, and nothing above it has to be opened to others.
 */
const PROC_CWD = '/proc/self/cwd';

/** PostgreSQL refuses to run as root: runs the server under the given uid, if necessary from a copy of the binaries. */
export async function findIdentityForRoot({
  binaries,
  serverUser: owner,
  parent,
  sharedPlaces = SHARED_PLACES,
}: RootOptions): Promise<Identity> {
  const procCwd = process.platform === 'linux' && (await exists(PROC_CWD));
  let failure = procCwd ? undefined : await failureOf('/bin/sh', ['-c', 'cd "$0"', parent], owner);
  if (failure === undefined) {
    const isReachable = (await failureOf(binaries.postgres, ['--version'], owner)) === undefined;
    if (isReachable) return createUidIdentity(binaries, owner, procCwd);
    // Where nothing runs under that uid, a copy is of no use.
    failure = await failureOf('/bin/sh', ['-c', ':'], owner);
    if (failure === undefined) return createUidIdentity(await copyBinaries(binaries, sharedPlaces), owner, procCwd);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and uid ${owner.uid} cannot run it in ${parent} (${failure}): ` +
      'start as an ordinary user, choose another DATA_DIR, or set DATABASE_URL',
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
