import { onTestFinished } from 'vitest';
import { BRIDGE_NODE, ledgerPort, type Running, start } from './processes.js';

/** A process, usually a node, that is restarted whenever it is killed. */
export interface KeptAlive {
  kill(): void;
  /** Returns how often the process was killed, by the test or at a named point. Throws if it ended in any other way. */
  kills(): number;
  /** The ids of the killed processes. */
  killed(): readonly number[];
  /** The id of the current process. */
  pid(): number;
  /** Rejects if the process ends in any other way than by a kill. */
  readonly failed: Promise<never>;
  /** Resolves as soon as the current process serves requests or has ended. */
  serves(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a whole node with its engine as a separate process, or another program that reports when it is ready. Restarts
 * it whenever it was killed.
 */
export function keptAlive(env: Record<string, string>, script = BRIDGE_NODE): KeptAlive {
  let running = start(script, env);
  let stopped = false;
  const killed: number[] = [];
  let failure: Error | undefined;
  const { promise: failed, reject: fail } = promiseOfFailure();
  const loop = (async () => {
    for (;;) {
      const code = await running.exited;
      if (stopped) return;
      if (code !== null) {
        failure = new Error(`the node ended with ${code}: ${running.stderr()}${running.stdout()}`);
        fail(failure);
        return;
      }
      killed.push(running.pid);
      running = start(script, env);
    }
  })();
  // Kills the process at the end, also if the test fails.
  onTestFinished(() => {
    stopped = true;
    running.child.kill('SIGKILL');
  });
  const serves = async (node: Running) => {
    await ledgerPort(node).catch(() => undefined);
  };
  return {
    kill: () => running.child.kill('SIGKILL'),
    kills() {
      if (failure) throw failure;
      return killed.length;
    },
    killed: () => killed,
    pid: () => running.pid,
    failed,
    serves: () => serves(running),
    async stop() {
      stopped = true;
      await serves(running);
      running.child.kill('SIGTERM');
      await loop;
    },
  };
}

function promiseOfFailure(): { readonly promise: Promise<never>; reject(reason: Error): void } {
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<never>((_, rejects) => {
    reject = rejects;
  });
  // Handles the rejection, because a test need not await this promise.
  promise.catch(() => undefined);
  return { promise, reject };
}
