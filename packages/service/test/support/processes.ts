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
/** The variable with the folder of a test run's programs. Each run in a clone bundles its own. */
export const TEST_PROGRAMS = 'TEST_PROGRAMS';
/** Returns the path of a test program around the service's compiled code, bundled with its dependencies. */
const testProgram = (name: string) => path.join(process.env[TEST_PROGRAMS] ?? '', `${name}.js`);
/** The service, from the same modules as the shipped one. */
export const MAIN = testProgram('main');
export const LEDGER_NODE = testProgram('ledger-node');
export const BRIDGE_NODE = testProgram('bridge-node');
export const DELIVERY_NODE = testProgram('delivery-node');
export const CLAIMS_NODE = testProgram('claims-node');
export const REFUNDING_NODE = testProgram('refunding-node');
export const OPERATORS_NODE = testProgram('operators-node');
export const INSTITUTION = testProgram('institution-node');
export const SUPPLIER = testProgram('supplier-node');
export const COMMAND_LINE = path.join(packageRoot, 'bin', 'perennial.js');

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
}

const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG'];

/** Starts one of our programs with exactly the given settings. The environment does not leak in. */
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

/** Polls a condition that another process causes. Throws after the limit. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 120_000,
): Promise<T> {
  const limit = AbortSignal.timeout(limitMs);
  // Polls less often over time, because polling costs CPU.
  for (let pause = 10; ; pause = Math.min(pause * 1.2, 100)) {
    const found = await probe();
    if (found) return found;
    if (limit.aborted) throw new Error(`never happened: ${what}`);
    await delay(pause);
  }
}

/** A busy machine may take a minute to start a node, after recovering a database. */
const START_LIMIT_MS = 150_000;

/** Returns the port of a ledger node once it serves. */
export async function ledgerPort(running: Running): Promise<number> {
  const port = () => {
    if (running.child.exitCode !== null) throw new Error(`the node ended: ${running.stderr()}`);
    const line = running.stdout().match(/^\{"ready".*$/m)?.[0];
    return line === undefined ? undefined : (JSON.parse(line).port as number);
  };
  return until('a node that serves', port, START_LIMIT_MS);
}

/** Returns the base URL of a service started from main, once it serves. */
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
      // It has ended with its parent.
    }
  }
}
