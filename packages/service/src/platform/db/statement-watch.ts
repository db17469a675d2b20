import type pg from 'pg';
import { DestroyableClient } from './destroyable-client.js';
import { BACKEND_STARTED_AT, type Backend } from './session.js';

/** A connection whose statements are watched. It runs one statement at a time. */
export interface WatchedConnection {
  readonly client: DestroyableClient;
  /** The server process of the connection. Undefined while the connection is being opened. */
  readonly backend: Backend | undefined;
  /** The tick in which the current statement began. */
  since: number;
  /** The current statement's limit in ticks. 0 if no statement runs, or if it has no limit. */
  limit: number;
}

export interface StatementWatchOptions {
  /** Configuration of the connection that probes the database. */
  readonly config: pg.ClientConfig;
  readonly onUnresponsive?: ((isUnresponsive: boolean) => void) | undefined;
}

/**
 * Length of a tick. Time is counted in ticks of a timer, not by the clock: a process that was suspended or too busy to
 * read its sockets counts only one tick for that time. So a statement is not given up while its answer waits to be
 * read.
 */
const TICK_MS = 500;
const ticksIn = (ms: number) => Math.ceil(ms / TICK_MS);

/**
 * The age of a statement, in ticks, after which the database is probed. A probe without an answer is given up after the
 * same time.
 */
const SLOW_TICKS = ticksIn(2_000);

/**
 * Gives up statements that get no answer within their limit, or within 2 s while the database answers no probe. A
 * database that is frozen, or behind a network that drops packets, keeps its sockets open without answering. The
 * connection is destroyed, because a late answer could be taken for the answer to the next statement. Connections that
 * are being opened are given up as soon as a probe has failed, so that no statement waits for them after the silence.
 */
export function createStatementWatch<Connection extends WatchedConnection>(
  { config, onUnresponsive }: StatementWatchOptions,
  giveUp: (connection: Connection) => void,
) {
  const connections = new Set<Connection>();
  /** Server processes that may still run a statement which this node has given up. */
  const abandoned: Backend[] = [];
  let tick = 0;
  let isSilent = false;
  /**
   * The last tick in which a probe was answered. While a statement is slow, the next probe begins more than SLOW_TICKS
   * later.
   */
  let answeredAt = 0;
  let probing: { readonly client: DestroyableClient; readonly since: number } | undefined;

  const timer = setInterval(() => {
    tick += 1;
    let hasSlow = false;
    for (const connection of connections) {
      if (connection.limit === 0) continue;
      const age = tick - connection.since;
      const isOpening = connection.backend === undefined;
      if (age > connection.limit || (isSilent && (isOpening || age > SLOW_TICKS))) giveUpStatement(connection);
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

  /**
   * Probes the database with a new connection. Any answer, even a refusal, shows that the database responds. Also
   * terminates abandoned server processes.
   */
  async function probe(): Promise<void> {
    const client = new DestroyableClient(config);
    const question = { client, since: tick };
    probing = question;
    client.on('error', () => undefined);
    try {
      await client.connect();
      const ended = [...abandoned];
      await client.query(END_BACKENDS, [ended.map(({ pid }) => pid), ended.map(({ startedAt }) => startedAt)]);
      abandoned.splice(0, ended.length);
    } catch {
      // The connection or the query failed, or the timer above destroyed the connection.
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
    /** True if the last probe got no answer. The pool then lends no connection. */
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
 * Terminates the server processes of statements that were given up. Otherwise they could use up all connections,
 * because a commit that waits for a replica does not notice that its client is gone. And a frozen process would
 * continue later.
 */
const END_BACKENDS = `select pg_terminate_backend(a.pid) from pg_stat_activity a
  where (a.pid, ${BACKEND_STARTED_AT}) in (select * from unnest($1::integer[], $2::bigint[]))`;
