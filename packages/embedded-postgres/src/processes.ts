import { type ChildProcess, type ExecFileOptions, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A user of the machine. As a parameter it is the user that runs the program; undefined is the current user. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The environment of every program. It has none of our variables: no PGDATA, and no secrets in /proc/PID/environ. */
const env = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' };

const execute = promisify(execFile);

/**
 * Converts ids to signed integers, because Node expects signed ids for a process (but unsigned ids for a file's owner).
 */
const credentials = (user?: User): Partial<User> => (user ? { uid: user.uid | 0, gid: user.gid | 0 } : {});

/** Runs a program to its end and returns its output. If the program fails, rejects with its stderr. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
  user?: User,
): Promise<string> {
  const { stdout } = await execute(program, args, { ...options, ...credentials(user), env, encoding: 'utf8' });
  return stdout;
}

/** Starts a program in its own session, so that Ctrl-C stops the service first, and not the database. */
export function spawnDetached(program: string, args: readonly string[], options: SpawnOptions, user?: User) {
  return spawn(program, args, { ...options, ...credentials(user), env, detached: true });
}

export function untilEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
}

export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A zombie counts as ended: it holds no resources, and in a container its parent may never reap it.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) [ZX] /.test(stat);
}

/** Returns whether the uid has a name, in /etc/passwd or another source of accounts. */
export async function hasAccount(uid: number): Promise<boolean> {
  return runProgram('id', [String(uid)]).then(
    () => true,
    () => false,
  );
}

export async function findUidOfNobody(): Promise<number> {
  const uid = Number.parseInt(await runProgram('id', ['-u', 'nobody']).catch(() => ''), 10);
  return Number.isInteger(uid) && uid !== 0 ? uid >>> 0 : 65534; // macOS has nobody at -2
}
