import { readFile, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedPostgresError, errorCode } from './error.js';
import { type Folder, openLog } from './folder.js';
import { type Identity, pathFor } from './identity.js';
import { changeOwner } from './initdb.js';
import { isRunning, runProgram, spawnDetached, untilEnded } from './processes.js';

/** The folder's server, as postmaster.pid describes it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** False while the server starts, recovers or stops. A standby is ready for reads. */
  readonly isReady: boolean;
}

/**
 * Thrown if the server exited while starting. A retry may help: another process may have been faster, or files of a
 * dead server may have been in the way.
 */
export class StartFailed extends EmbeddedPostgresError {}

const READY = ['ready', 'standby'];
const POLL_MS = 20;
const MAX_STOP_MS = 60_000;
const EMPTY_FOR_MS = 2_000;

/** Returns the folder's running server, or undefined. Removes a stale postmaster.pid that would prevent a start. */
export async function findPostmaster({ data }: Folder): Promise<Postmaster | undefined> {
  const file = join(data, 'postmaster.pid');
  try {
    const [pidLine, , , port, , , , status = ''] = (await readFile(file, 'utf8')).split('\n');
    const pid = Number(pidLine);
    if (!(pid > 0) || !(await isRunning(pid))) return undefined;
    if (await isServerOf(data, pid)) return { pid, port: Number(port), isReady: READY.includes(status.trim()) };
    // The pid belongs to another program, because pids are reused after a reboot. PostgreSQL would take it for the old
    // server and never start.
    await rm(file, { force: true });
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Returns whether the process is this folder's server: its command line contains the folder's path, either in the
 * setting perennial.folder or after -D.
 */
async function isServerOf(data: string, pid: number): Promise<boolean> {
  const isLinux = process.platform === 'linux';
  const command = await (isLinux
    ? readFile(`/proc/${pid}/cmdline`, 'utf8')
    : runProgram('ps', ['-ww', '-o', 'command=', '-p', String(pid)])
  ).catch(() => ''); // it has just ended
  return `${command.replaceAll('\0', ' ').trimEnd()} `.includes(`${data} `);
}

/** Starts the server and waits until it is ready, however long its recovery takes. */
export async function startServer(
  folder: Folder,
  identity: Identity,
  port: number,
  givenUp: AbortSignal,
): Promise<void> {
  const { data } = folder;
  const { binaries, user } = identity;
  // The server's user must own the folder. Root may have copied it, for example from a backup.
  if (user !== undefined && (await stat(data)).uid !== user.uid) await changeOwner(data, user);
  const log = await openLog(folder);
  try {
    const args = ['-D', pathFor(data, user), ...(await createSettings(folder, port)).flatMap((one) => ['-c', one])];
    const stdio = ['ignore' as const, log.fd, log.fd];
    const child = spawnDetached(join(binaries.native, 'bin', 'postgres'), args, { cwd: data, stdio }, user);
    child.unref();
    const ended = untilEnded(child);
    for (;;) {
      const end = await Promise.race([ended, pause(POLL_MS)]);
      if (end !== undefined) {
        const reason = (await findReason(folder.log)) ?? end;
        if (reason.includes('"postmaster.pid" is empty')) await removeEmptyFile(join(data, 'postmaster.pid'));
        throw new StartFailed(`the database does not start: ${reason} (see ${folder.log})`);
      }
      givenUp.throwIfAborted();
      const postmaster = await findPostmaster(folder);
      if (postmaster?.pid === child.pid && postmaster?.isReady) return;
    }
  } finally {
    await log.close();
  }
}

/**
 * Removes postmaster.pid if a power cut left it empty. Waits first, because a starting server's file is briefly empty.
 */
async function removeEmptyFile(file: string): Promise<void> {
  await pause(EMPTY_FOR_MS);
  if ((await readFile(file, 'utf8').catch(() => undefined)) === '') await rm(file, { force: true });
}

async function createSettings({ data }: Folder, port: number): Promise<string[]> {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'password_encryption=scram-sha-256',
    'fsync=on',
    'full_page_writes=on',
    'synchronous_commit=on',
    'autovacuum=on',
    'logging_collector=off',
    'log_destination=stderr',
    // Keeps statements and error details out of the log, because they contain row values, which may be personal data.
    'log_min_error_statement=panic',
    'log_error_verbosity=terse',
    ...((await lacksSharedMemory()) ? ['dynamic_shared_memory_type=mmap'] : []),
    `perennial.folder=${data}`,
  ];
}

/** Returns true if /dev/shm is missing or small, as in some containers. Parallel queries share memory through it. */
async function lacksSharedMemory(): Promise<boolean> {
  const found = await statfs('/dev/shm').catch(() => ({ blocks: 0, bsize: 0 }));
  return process.platform === 'linux' && found.blocks * found.bsize < 32 * 1024 * 1024;
}

/** Returns the last error in the log. */
async function findReason(log: string): Promise<string | undefined> {
  const lines = (await readFile(log, 'utf8')).split('\n');
  return lines.findLast((line) => /(FATAL|PANIC|ERROR):/.test(line))?.replace(/^.*?(FATAL|PANIC|ERROR):\s+/, '');
}

/**
 * Stops the server by a fast shutdown: open transactions are rolled back, committed data is on disk. Waits for its end.
 */
export async function stopServer(folder: Folder): Promise<void> {
  const running = await findPostmaster(folder);
  if (running === undefined) return;
  const { pid } = running;
  const over = AbortSignal.timeout(MAX_STOP_MS);
  process.kill(pid, 'SIGINT');
  while (await isRunning(pid)) {
    if (over.aborted) {
      const seconds = MAX_STOP_MS / 1000;
      throw new EmbeddedPostgresError(
        `the database (pid ${pid}) has not stopped after ${seconds} s: see ${folder.log}`,
      );
    }
    await pause(POLL_MS);
  }
}
