import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { link, open, readFile, readlink, rename, rm, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedPostgresError } from './error.js';
import { changeOwner, errorCode } from './files.js';
import { type Folder, openLog, readRememberedPort } from './folder.js';
import type { Identity } from './identity.js';
import { runProgram } from './run-program.js';

/** The server of this folder, as its postmaster.pid tells. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number | undefined;
  /** starting, ready, stopping; empty before the server has said anything */
  readonly status: string;
}

const POLL_MS = 20;
const MAX_STOP_MS = 60_000;

/** Part of the server's command line, so that people and the next start can tell which folder a server belongs to. */
const marker = (data: string): string => `perennial.folder=${data}`;

/** The live server of the folder, or undefined. Removes a stale file that would keep a new server from starting. */
export async function findPostmaster(folder: Folder): Promise<Postmaster | undefined> {
  const file = join(folder.data, 'postmaster.pid');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (!(pid > 0)) return undefined; // being written, or cut short by a crash: PostgreSQL itself decides which
  if (await isServerOf(folder.data, pid)) {
    const port = Number.parseInt(lines[3] ?? '', 10);
    return { pid, port: port > 0 ? port : undefined, status: (lines[7] ?? '').trim() };
  }
  // PostgreSQL takes any live process of that number for the old server (numbers are given again after a reboot) and
  // would refuse to start for ever.
  if (sendSignal(pid, 0)) await discardStaleFile(file, text);
  return undefined;
}

/** Removes the stale file, and puts it back if a new server has written its own meanwhile. */
async function discardStaleFile(file: string, stale: string): Promise<void> {
  const aside = `${file}.stale-${randomBytes(4).toString('hex')}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file);
    await rm(aside);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EEXIST') throw error;
  }
}

/** A power cut can leave the file empty; while a server starts it is empty for a moment too, so this waits first. */
async function discardEmptyFile(folder: Folder): Promise<void> {
  const file = join(folder.data, 'postmaster.pid');
  await pause(2000);
  if ((await readFile(file, 'utf8').catch(() => undefined)) === '') await discardStaleFile(file, '');
}

function sendSignal(pid: number, what: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, what);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function isServerOf(data: string, pid: number): Promise<boolean> {
  if (!sendSignal(pid, 0)) return false;
  if (process.platform !== 'linux') {
    const command = await runProgram('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => '',
    );
    return command.includes('postgres') && command.includes(data);
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (command === '') {
    // Ending: the command line goes first, the sockets a moment later. Only a zombie holds nothing any more; it waits
    // for its parent, which in a container may be for ever.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return /\(postgres\) [^ZX]/.test(stat);
  }
  const args = command.split('\0');
  if (args.includes(marker(data))) return true;
  // A server of another folder names that one.
  if (basename(args[0] ?? '') !== 'postgres' || args.some((arg) => arg.startsWith(marker('')))) return false;
  // Started by hand, say with pg_ctl: it is this folder's if that is where it is, or if we may not know.
  return readlink(`/proc/${pid}/cwd`).then(
    (cwd) => cwd === data,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

export type StartResult =
  | { readonly state: 'ready' }
  /** Another server, or what is left of one, has the folder: look again. */
  | { readonly state: 'rival' }
  | { readonly state: 'given-up' }
  | { readonly state: 'port-taken'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string };

/** Starts the server and stays until it is ready, however long its recovery takes, or has ended. */
export async function startServer(
  folder: Folder,
  identity: Identity,
  port: number,
  givenUp: AbortSignal,
): Promise<StartResult> {
  await changeFolderOwner(folder, identity);
  const log = await openLog(folder);
  try {
    const { size: logStart } = await log.stat();
    const child = identity.spawn(identity.binaries.postgres, await createArguments(folder, identity, port), {
      folder: folder.data,
      stdio: ['ignore', log.fd, log.fd],
    });
    const ended = waitForEnd(child);
    child.unref();
    for (;;) {
      const end = await Promise.race([ended, pause(POLL_MS)]);
      if (end !== undefined) {
        const lines = await readLogSince(folder.log, logStart, child.pid);
        if (lines.some((line) => line.includes('"postmaster.pid" is empty'))) await discardEmptyFile(folder);
        return explainEnd(end, lines);
      }
      if (givenUp.aborted) return { state: 'given-up' };
      const postmaster = await findPostmaster(folder);
      if (postmaster?.pid === child.pid && postmaster?.status === 'ready') return { state: 'ready' };
    }
  } finally {
    await log.close();
  }
}

/** The server has to own its folder, which may belong to the uid of an earlier version. */
async function changeFolderOwner({ data }: Folder, { owner }: Identity): Promise<void> {
  if (owner !== undefined && (await stat(data)).uid !== owner.uid) await changeOwner(data, owner);
}

async function createArguments(folder: Folder, identity: Identity, port: number): Promise<string[]> {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    password_encryption: 'scram-sha-256',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    autovacuum: 'on',
    logging_collector: 'off',
    log_destination: 'stderr',
    // Statements and the details of errors hold values of rows, and personal data belongs in no log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(await sharedMemorySettings()),
  };
  const args = ['-D', identity.pathFor(folder.data)];
  for (const [key, value] of Object.entries(settings)) args.push('-c', `${key}=${value}`);
  args.push('-c', marker(folder.data));
  return args;
}

/** Parallel queries share memory through /dev/shm, which some containers do not have or keep at a few megabytes. */
async function sharedMemorySettings(): Promise<Record<string, string>> {
  if (process.platform !== 'linux') return {};
  const bytes = await statfs('/dev/shm').then(
    (found) => found.blocks * found.bsize,
    () => 0,
  );
  return bytes < 32 * 1024 * 1024 ? { dynamic_shared_memory_type: 'mmap' } : {};
}

function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, killedBy) => resolve(killedBy === null ? `ended with ${code}` : `ended by ${killedBy}`));
  });
}

async function readLogSince(path: string, offset: number, pid: number | undefined): Promise<string[]> {
  const handle = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(64 * 1024);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // Several starts may write to one log; lines without a number come from before the server's own logging.
    return lines.filter((line) => line.includes(`[${pid}]`) || !/\[\d+\]/.test(line));
  } finally {
    await handle.close();
  }
}

function explainEnd(end: string, lines: readonly string[]): StartResult {
  const text = lines.join('\n');
  if (/lock file "postmaster\.pid" (already exists|is empty)|pre-existing shared memory block/.test(text)) {
    return { state: 'rival' };
  }
  const worst = lines.filter((line) => /(FATAL|PANIC|ERROR):/.test(line)).at(-1) ?? lines.filter(Boolean).at(-1);
  const reason = (worst ?? end).replace(/^.*?(FATAL|PANIC|ERROR):\s+/, '');
  if (/could not (bind|create any TCP\/IP sockets)/.test(text)) return { state: 'port-taken', reason };
  return { state: 'failed', reason };
}

/** Fast shutdown: open transactions are rolled back, everything committed is on disk; waits for the end of it. */
export async function stopServer(folder: Folder, postmaster: Postmaster): Promise<void> {
  const since = performance.now();
  sendSignal(postmaster.pid, 'SIGINT');
  while (await isServerOf(folder.data, postmaster.pid)) {
    if (performance.now() - since > MAX_STOP_MS) {
      throw new EmbeddedPostgresError(
        `the database (pid ${postmaster.pid}) is still stopping after ${MAX_STOP_MS / 1000} s, see ${folder.log}`,
      );
    }
    await pause(POLL_MS);
  }
}

/**
 * The remembered port if it is free, else another one. Below the range from which systems take the ports of outgoing
 * connections: in it, a pool that reconnects to a stopped server can take the server's own port.
 */
export async function choosePort(folder: Folder): Promise<number> {
  const remembered = await readRememberedPort(folder);
  if (remembered !== undefined && (await isPortFree(remembered))) return remembered;
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isPortFree(port)) return port;
  }
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
