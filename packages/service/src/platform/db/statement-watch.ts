import type pg from 'pg';
import { DestroyableClient } from './destroyable-client.js';
import { BACKEND_STARTED_AT, type Backend } from './session.js';

/** State of a connection, which has one statement at a time. */
export interface WatchedConnection {
  readonly client: DestroyableClient;
  /** Server process of the connection, once known. */
  readonly backend: Backend | undefined;
  /** In ticks: start and limit of its statement. Limit 0: no statement, or one without a limit. */
  since: number;
  limit: number;
}

export interface StatementWatchOptions {
  /** Configuration of the connection that probes the database. */
  readonly config: pg.ClientConfig;
  readonly onUnresponsive?: ((isUnresponsive: boolean) => void) | undefined;
}

/**
 * Length of a tick. Time is counted in ticks, because a process that was suspended or too busy to read its sockets has
 * one tick when it continues. So no statement is given up whose answer waits to be read.
 */
const TICK_MS = 500;
const ticksIn = (ms: number) => Math.ceil(ms / TICK_MS);

/** Age of a statement at which the database is probed. The probe may take as long again. */
const SLOW_TICKS = ticksIn(2_000);

/**
 * Gives up statements that are not answered some time after the database's own limit. A frozen database, or one behind
 * a network that drops everything, keeps its sockets open and does not answer. The connection is destroyed, because a
 * late answer must not be taken for that of the next statement.
 */
export function createStatementWatch<Connection extends WatchedConnection>(
  { config, onUnresponsive }: StatementWatchOptions,
  giveUp: (connection: Connection) => void,
) {
  const connections = new Set<Connection>();
  /** Server processes that may still run a statement that was given up. */
  const abandoned: Backend[] = [];
  let tick = 0;
  let isSilent = false;
  /** Last tick in which the database answered. It is probed again only some ticks later. */
  let answeredAt = 0;
  let probing: { readonly client: DestroyableClient; readonly since: number } | undefined;

  const timer = setInterval(() => {
    tick += 1;
    let hasSlow = false;
    for (const connection of connections) {
      if (connection.limit === 0) continue;
      const age = tick - connection.since;
      if (age > connection.limit || (isSilent && age > SLOW_TICKS)) giveUpStatement(connection);
      else hasSlow ||= age > SLOW_TICKS;
    }
    if (probing) {
      if (tick - probing.since > SLOW_TICKS) {
        probing.client.destroy();
        probing = undefined;
        setUnresponsive(true);
      }
    } else if (isSilent || abandoned.length > 0 || (hasSlow && tick - answeredAt > SLOW_TICKS)) void probe();
  }, TICK_MS);
  timer.unref();

  function giveUpStatement(connection: Connection): void {
    connections.delete(connection);
    giveUp(connection);
    connection.client.destroy();
    if (connection.backend) abandoned.push(connection.backend);
  }

  /** Probes the database. Any answer shows that it responds, even a refusal, with which statements then fail. */
  async function probe(): Promise<void> {
    const client = new DestroyableClient(config);
    const question = { client, since: tick };
    probing = question;
    client.on('error', () => undefined);
    try {
      await client.connect();
      const ended = abandoned.splice(0);
      await client.query(END_BACKENDS, [ended.map(({ pid }) => pid), ended.map(({ startedAt }) => startedAt)]);
    } catch {
      // Refused, or destroyed by the timer above.
    }
    void client.end().catch(() => undefined);
    if (probing !== question) return;
    probing = undefined;
    answeredAt = tick;
    setUnresponsive(false);
  }

  function setUnresponsive(now: boolean): void {
    if (now === isSilent) return;
    isSilent = now;
    onUnresponsive?.(now);
  }

  return {
    add: (connection: Connection): void => void connections.add(connection),
    remove: (connection: Connection): void => void connections.delete(connection),
    begin(connection: Connection, limitMs: number): void {
      connection.since = tick;
      connection.limit = ticksIn(limitMs);
    },
    end(connection: Connection): void {
      connection.limit = 0;
    },
    /** True if neither statements nor new connections are answered. New statements fail at once. */
    get isSilent() {
      return isSilent;
    },
    stop(): void {
      clearInterval(timer);
      if (probing) probing.client.destroy();
      probing = undefined;
    },
  };
}

export type StatementWatch<Connection extends WatchedConnection> = ReturnType<typeof createStatementWatch<Connection>>;

/**
 * Terminates abandoned server processes. A commit that waits for a replica does not notice that its client is gone, so
 * they would use up all connections. And a frozen process must not continue abandoned work.
 */
const END_BACKENDS = `select pg_terminate_backend(a.pid) from pg_stat_activity a
  where (a.pid, ${BACKEND_STARTED_AT}) in (select * from unnest($1::integer[], $2::bigint[]))`;
