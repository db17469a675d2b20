import type { Connection } from './connection.js';
import { runningOut } from './running-out.js';

/** Not for long, so that a name that moves is followed. */
const IDLE_MS = 4_000;
const OLDEST_MS = 60_000;
/** Over all receivers: a node has only so many files. */
const MOST_IDLE = 512;

/** Connections that are open and not in use, for the next push to the same origin. */
export interface IdleConnections {
  take(origin: string): Connection | undefined;
  keep(origin: string, connection: Connection): void;
  /** From now on none is kept. */
  close(): void;
}

interface Kept {
  readonly origin: string;
  readonly connection: Connection;
}

export function idleConnections(): IdleConnections {
  const byOrigin = new Map<string, Kept[]>();
  const unused = runningOut<Kept>(IDLE_MS, drop);
  let count = 0;
  let isClosed = false;

  function drop(kept: Kept): void {
    kept.connection.close();
    unused.delete(kept);
    const all = byOrigin.get(kept.origin) ?? [];
    const index = all.indexOf(kept);
    if (index < 0) return;
    all.splice(index, 1);
    count -= 1;
    if (all.length === 0) byOrigin.delete(kept.origin);
  }

  return {
    take(origin) {
      // The one that was used last is the least likely to be closed by now; those in excess run out.
      const all = byOrigin.get(origin);
      for (let kept = all?.pop(); kept; kept = all?.pop()) {
        unused.delete(kept);
        count -= 1;
        const { connection } = kept;
        if (connection.isOpen() && performance.now() - connection.openedAt < OLDEST_MS) return connection;
        connection.close();
      }
      byOrigin.delete(origin);
      return undefined;
    },
    keep(origin, connection) {
      if (isClosed || count >= MOST_IDLE || !connection.isOpen()) {
        connection.close();
        return;
      }
      const kept = { origin, connection };
      connection.rest(() => drop(kept));
      unused.add(kept);
      const all = byOrigin.get(origin);
      if (all) all.push(kept);
      else byOrigin.set(origin, [kept]);
      count += 1;
    },
    close() {
      isClosed = true;
      for (const { connection } of [...byOrigin.values()].flat()) connection.close();
      byOrigin.clear();
    },
  };
}
