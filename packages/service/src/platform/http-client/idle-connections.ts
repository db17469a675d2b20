import { createExpiryQueue, type Expiring } from '../expiry-queue.js';
import type { Connection } from './connection.js';

/**
 * How long an idle connection is usually kept. The time is short, so that changes in DNS are noticed soon. Most servers
 * keep a connection longer than this, so they have rarely closed a connection that is used again.
 */
export const USUAL_IDLE_MS = 4_000;
const MAX_AGE_MS = 60_000;
/** Maximum number of idle connections per client, because file descriptors are limited. */
const MAX_IDLE_CONNECTIONS = 512;

interface IdleConnection {
  readonly origin: string;
  readonly connection: Connection;
  readonly usableUntil: number;
  expiring: Expiring<IdleConnection> | undefined;
}

/** Keeps idle connections open for the next request to the same origin. */
export function createIdleConnections(maxIdleMs = USUAL_IDLE_MS) {
  const byOrigin = new Map<string, IdleConnection[]>();
  const expiry = createExpiryQueue<IdleConnection>(maxIdleMs, drop);
  let count = 0;
  let isClosed = false;

  function stopExpiring({ expiring }: IdleConnection): void {
    if (expiring) expiry.delete(expiring);
  }

  function drop(idle: IdleConnection): void {
    idle.connection.close();
    stopExpiring(idle);
    const all = byOrigin.get(idle.origin) ?? [];
    const index = all.indexOf(idle);
    if (index < 0) return;
    all.splice(index, 1);
    count -= 1;
    if (all.length === 0) byOrigin.delete(idle.origin);
  }

  return {
    take(origin: string): Connection | undefined {
      // Takes the connection that was used last, because the server is least likely to have closed it. If fewer
      // connections are needed than before, those that were used earlier stay unused and expire.
      const all = byOrigin.get(origin);
      for (let idle = all?.pop(); idle; idle = all?.pop()) {
        stopExpiring(idle);
        count -= 1;
        const { connection } = idle;
        const now = performance.now();
        if (connection.isOpen() && now < idle.usableUntil && now - connection.openedAt < MAX_AGE_MS) return connection;
        connection.close();
      }
      byOrigin.delete(origin);
      return undefined;
    },
    /** Keeps a connection open, if there is room. After `usableMs` it is not used again. */
    keep(origin: string, connection: Connection, usableMs?: number): void {
      if (isClosed || count >= MAX_IDLE_CONNECTIONS || !connection.isOpen()) {
        connection.close();
        return;
      }
      const usableUntil = usableMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + usableMs;
      const idle: IdleConnection = { origin, connection, usableUntil, expiring: undefined };
      connection.watchWhileIdle(() => drop(idle));
      idle.expiring = expiry.add(idle);
      const all = byOrigin.get(origin);
      if (all) all.push(idle);
      else byOrigin.set(origin, [idle]);
      count += 1;
    },
    /** Closes all connections. After this, `keep` closes a connection instead of keeping it. */
    close(): void {
      isClosed = true;
      for (const { connection } of [...byOrigin.values()].flat()) connection.close();
      byOrigin.clear();
    },
  };
}

export type IdleConnections = ReturnType<typeof createIdleConnections>;
