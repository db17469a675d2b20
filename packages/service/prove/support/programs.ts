import { type SpawnOptions, spawn } from 'node:child_process';
import { watch } from '../../test/support/processes.js';

export const say = (line: string) => process.stdout.write(`${line}\n`);

/** Runs a program and returns its standard output. Throws if it fails, with the end of what it printed. */
export async function run(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<string> {
  const running = watch(spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options }));
  const failed = new Promise<never>((_, reject) => running.child.once('error', reject));
  const code = await Promise.race([running.exited, failed]);
  if (code !== 0) {
    const printed = `${running.stdout()}${running.stderr()}`.trim().slice(-2000);
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${printed}`);
  }
  return running.stdout();
}

/** Throws if `isTrue` is false. */
export function check(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
  say(`  ✓ ${what}`);
}

/** Starts a stopwatch. Returns a function that returns the seconds since then. */
export function stopwatch(): () => string {
  const begun = performance.now();
  return () => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
}
