import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect } from 'vitest';
import { type EmbeddedDatabase, openEmbedded } from '../src/index.js';

export const asRoot = process.getuid?.() === 0;

const folders: string[] = [];
const open = new Set<EmbeddedDatabase>();
const children = new Set<ChildProcess>();

/** Creates a folder for the current test. After the test it is removed, and every server in it is stopped. */
export function temporaryFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'perennial-embedded-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

let made: Promise<string> | undefined;

/**
 * Returns a data folder with a stopped server: a copy of a folder made once, because initdb takes most of a test's
 * time.
 */
export async function preparedDataDir(): Promise<string> {
  made ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perennial-prepared-'));
    const database = await openEmbedded({ dataDir: folder, role: 'tool', log: () => undefined });
    await database.release();
    return folder;
  })();
  const dataDir = join(temporaryFolder(), 'data');
  execFileSync('cp', ['-a', await made, dataDir]); // with its owners
  return dataDir;
}

export async function dropPrepared(): Promise<void> {
  if (made !== undefined) rmSync(await made, { recursive: true, force: true });
  made = undefined;
}

export function track<T extends EmbeddedDatabase>(database: T): T {
  open.add(database);
  return database;
}

export async function openTool(dataDir: string): Promise<EmbeddedDatabase> {
  return track(await openEmbedded({ dataDir, role: 'tool', log: () => undefined }));
}

export async function cleanUp(): Promise<void> {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  children.clear();
  await Promise.allSettled([...open].map((database) => database.release()));
  open.clear();
  for (const folder of folders.splice(0)) {
    const files = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
      name.endsWith('postmaster.pid'),
    );
    for (const file of files) for (const pid of family(dirname(join(folder, file)))) kill(pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

export function postmasterPid(data: string): number {
  return Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
}

/** Returns the pids of a data folder's postmaster and its children. */
export function family(data: string): number[] {
  const postmaster = postmasterPid(data);
  if (!isAlive(postmaster)) return [];
  if (process.platform !== 'linux') return [postmaster, ...numbers('pgrep', ['-P', String(postmaster)])];
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  return [postmaster, ...children.split(' ').filter(Boolean).map(Number)];
}

function numbers(program: string, args: string[]): number[] {
  return execFileSync(program, args, { encoding: 'utf8' }).split(/\s+/).filter(Boolean).map(Number);
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Returns whether a process is alive. A zombie counts as dead, because its parent may reap it late. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the uids of a data folder's server processes, as the operating system reports them. */
export function serverUids(data: string): Set<number> {
  const pids = family(data);
  if (process.platform !== 'linux') return new Set(numbers('ps', ['-o', 'uid=', '-p', pids.join(',')]));
  const uids = pids.map((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid); // some end meanwhile
  return new Set(uids.filter((uid) => uid !== undefined));
}

export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function answers(url: string): Promise<void> {
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
}

/** Another process that has the database open, as a service or a tool. */
export interface Other {
  readonly pid: number;
  /** The first line of its output: the URL, or "error NAME: MESSAGE". */
  readonly said: string;
  /** Makes the process release the database, and waits for its end. */
  finish(): Promise<void>;
}

export async function otherProcess(dataDir: string, role: 'service' | 'tool', description?: string): Promise<Other> {
  const script = fileURLToPath(new URL('./child.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir, role, description ?? ''], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  const ended = once(child, 'exit');
  const [said] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    pid: child.pid ?? 0,
    said,
    finish: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
