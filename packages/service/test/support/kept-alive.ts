import { onTestFinished } from 'vitest';
import { BRIDGE_NODE, ledgerPort, type Running, start } from './processes.js';

/** A node that is started again whenever it has died. */
export interface KeptAlive {
  kill(): void;
  /** How often it died, by our hand or at a named point. Throws when it ended in another way. */
  kills(): number;
  /** The processes that died so. */
  killed(): readonly number[];
  /** The process that runs now. */
  pid(): number;
  /** Rejects when it ended in another way. */
  readonly failed: Promise<never>;
  /** Resolves once the node that runs now serves. */
  serves(): Promise<void>;
  stop(): Promise<void>;
}

/** A whole node of the service with its engine, or another program that says when it is ready, as a process of its own. */
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
  // Of a test that fails nothing is left running.
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
  // Not everybody waits for it.
  promise.catch(() => undefined);
  return { promise, reject };
}
