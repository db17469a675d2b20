import { onTestFinished } from 'vitest';
import { ledgerPort, packageRoot, type Running, start } from './processes.js';

/** A node that is started again whenever it has died. */
export interface KeptAlive {
  kill(): void;
  /** How often it died, by our hand or at a named point. Throws when it ended in another way. */
  kills(): number;
  /** Resolves once the node that runs now serves. */
  serves(): Promise<void>;
  stop(): Promise<void>;
}

/** A whole node of the service with its engine, as a process of its own. */
export function keptAlive(env: Record<string, string>): KeptAlive {
  let running = start(`${packageRoot}/test/support/bridge-node.mjs`, env);
  let stopped = false;
  let kills = 0;
  let failure: Error | undefined;
  const loop = (async () => {
    for (;;) {
      const code = await running.exited;
      if (stopped) return;
      if (code !== null) {
        failure = new Error(`the node ended with ${code}: ${running.stderr()}`);
        return;
      }
      kills += 1;
      running = start(`${packageRoot}/test/support/bridge-node.mjs`, env);
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
      return kills;
    },
    serves: () => serves(running),
    async stop() {
      stopped = true;
      await serves(running);
      running.child.kill('SIGTERM');
      await loop;
    },
  };
}
