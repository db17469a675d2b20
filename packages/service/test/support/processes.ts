import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const packageRoot = path.join(here, '..', '..');
const programs = path.join(packageRoot, 'dist', 'program');
/** The service as users start it, with its installed dependencies. */
export const SHIPPED_MAIN = path.join(programs, 'main.js');
/**
 * The name of the variable with the folder of this run's test programs. Each run in a clone bundles its own programs.
 */
export const TEST_PROGRAMS = 'TEST_PROGRAMS';
/** Returns the path of a test program, bundled from the service's compiled code with its dependencies. */
const testProgram = (name: string) => path.join(process.env[TEST_PROGRAMS] ?? '', `${name}.js`);
/** The service, bundled from the same modules as the shipped program. */
export const MAIN = testProgram('main');
export const LEDGER_NODE = testProgram('ledger-node');
export const BRIDGE_NODE = testProgram('bridge-node');
export const DELIVERY_NODE = testProgram('delivery-node');
export const CLAIMS_NODE = testProgram('claims-node');
export const REFUNDING_NODE = testProgram('refunding-node');
export const OPERATORS_NODE = testProgram('operators-node');
export const INSTITUTION = testProgram('institution-node');
export const SUPPLIER = testProgram('supplier-node');

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or with null if a signal ended the process. */
  readonly exited: Promise<number | null>;
}

const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG'];

/** Starts one of our programs with exactly the given settings. It inherits only the variables of PASSED_ON. */
export function start(script: string, env: Record<string, string>, args: readonly string[] = []): Running {
  const inherited = Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  return watch(
    spawn(process.execPath, [script, ...args], { env: { ...inherited, ...env }, stdio: ['pipe', 'pipe', 'pipe'] }),
  );
}

export function watch(child: ChildProcess): Running {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { child, pid: child.pid ?? -1, stdout: () => stdout, stderr: () => stderr, exited };
}

/** Polls until `probe` returns a value. Throws after the time limit. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 120_000,
): Promise<T> {
  const limit = AbortSignal.timeout(limitMs);
  // Polls less and less often, because polling costs CPU.
  for (let pause = 10; ; pause = Math.min(pause * 1.2, 100)) {
    const found = await probe();
    if (found) return found;
    if (limit.aborted) throw new Error(`never happened: ${what}`);
    await delay(pause);
  }
}

/** The time limit of a start. On a busy machine a start may take a minute if it has to recover a database. */
const START_LIMIT_MS = 150_000;

/** Waits until a test node serves, and returns the port that it reports. */
export async function ledgerPort(running: Running): Promise<number> {
  const port = () => {
    if (running.child.exitCode !== null) throw new Error(`the node ended: ${running.stderr()}`);
    const line = running.stdout().match(/^\{"ready".*$/m)?.[0];
    return line === undefined ? undefined : (JSON.parse(line).port as number);
  };
  return until('a node that serves', port, START_LIMIT_MS);
}

/** Waits until a service started from main serves, and returns its base URL. */
export async function serviceUrl(running: Running): Promise<string> {
  const url = () => {
    if (running.child.exitCode !== null) throw new Error(`the service ended: ${running.stderr()}`);
    return running.stderr().match(/Interface\s+(\S+)\/openapi\/v1\//)?.[1];
  };
  return until('a service that serves', url, START_LIMIT_MS);
}

/** Returns a process and its descendants. */
export function processTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  for (const [, child, parent] of listed.matchAll(/(\d+) +(\d+)/g))
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(child)]);
  const tree = [pid];
  for (let index = 0; index < tree.length; index += 1) tree.push(...(children.get(tree[index] ?? -1) ?? []));
  return tree;
}

export function postmasterPid(dataDir: string): number {
  return Number(readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Kills all processes of a service on an embedded database with SIGKILL, like a power cut. */
export function killEverything(running: Running, dataDir: string): void {
  const pids = [...processTree(running.pid), ...processTree(postmasterPid(dataDir))];
  for (const pid of new Set(pids)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended with its parent.
    }
  }
}
