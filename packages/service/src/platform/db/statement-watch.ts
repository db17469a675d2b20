import type pg from 'pg';
import { DestroyableClient } from './destroyable-client.js';
import { BACKEND_STARTED_AT, type Backend } from './session.js';

/** What the watch knows of a connection, which has one statement at a time. */
export interface WatchedConnection {
  readonly client: DestroyableClient;
  /** The process behind it, once it is known. */
  readonly backend: Backend | undefined;
  /**
   * In ticks of the watch: when its statement began, and how long it may take. Limit 0: no statement, or one without a limit.
   */
  since: number;
  limit: number;
}

export interface StatementWatchOptions {
  /** For the connection by which the watch asks whether the database answers. */
  readonly config: pg.ClientConfig;
  readonly onUnresponsive?: ((isUnresponsive: boolean) => void) | undefined;
}

/**
 * Time is counted in ticks of a timer. A process that was stopped, or too busy to read its sockets, has one tick when it goes
 * on, and not all that it has missed: no statement is given up whose answer waits to be read.
 */
const TICK_MS = 500;
const ticksIn = (ms: number) => Math.ceil(ms / TICK_MS);

/** When a statement takes longer, the database is asked whether it answers at all; it has as long again for that answer. */
const SLOW_TICKS = ticksIn(2_000);

/**
 * Watches statements that wait for an answer. The database's own limits hold while it runs. A database that is frozen, or
 * behind a network that drops everything, keeps its sockets open and does not answer. So each statement is given up here
 * too, some time after the database would have done it. Its connection is destroyed: a late answer must not be taken for
 * that of the next statement.
 */
export function createStatementWatch<Connection extends WatchedConnection>(
  { config, onUnresponsive }: StatementWatchOptions,
  giveUp: (connection: Connection) => void,
) {
  const connections = new Set<Connection>();
  /** Processes of the server that may still run a statement which was given up. */
  const abandoned: Backend[] = [];
  let tick = 0;
  let isSilent = false;
  /** The last tick in which the database answered: it is asked again only some ticks later. */
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

  /** Any answer shows that the database responds, also a refusal: statements then fail with that refusal. */
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
    /** Limit 0: the statement has none. */
    begin(connection: Connection, limitMs: number): void {
      connection.since = tick;
      connection.limit = ticksIn(limitMs);
    },
    end(connection: Connection): void {
      connection.limit = 0;
    },
    /** Neither a statement nor a new connection is answered: new statements fail at once. */
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
 * A commit that waits for a replica does not notice that its client is gone, whatever the limit of the statement: such
 * processes would pile up until no connection is left. And a frozen process does not go on with what was given up.
 */
const END_BACKENDS = `select pg_terminate_backend(a.pid) from pg_stat_activity a
  where (a.pid, ${BACKEND_STARTED_AT}) in (select * from unnest($1::integer[], $2::bigint[]))`;
