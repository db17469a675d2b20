import pg from 'pg';
import { failSpan, findTracing } from '../tracing.js';
import { readDatabaseUrl } from './database-url.js';
import { DestroyableClient } from './destroyable-client.js';
import {
  DatabaseReadOnly,
  DatabaseUnresponsive,
  isUnconfirmedCommit,
  OutdatedConnection,
  sqlState,
  toUnavailable,
  Unavailable,
} from './failures.js';
import type { UncheckedSql } from './queryable.js';
import { prepareSession, type Session, type SessionSettings } from './session.js';
import { createStatementWatch, type WatchedConnection } from './statement-watch.js';

// Parses bigint as a number. Identifiers are selected as text, and amounts and versions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('bigint beyond 2^53: select it as text');
  return value;
});

/** Time limit in ms for opening a connection, and for waiting for a free one. */
const CONNECT_MS = 5_000;

/** Time limit in ms for checking a connection, and for a rollback. */
export const CONNECTION_CHECK_MS = 4_000;

const READ_ONLY_STATE = '25006';

export interface DatabaseEvents {
  readonly onIdleError?: ((error: Error) => void) | undefined;
  /** Called when the database stops answering, and when it answers again. */
  readonly onUnresponsive?: ((isSilent: boolean) => void) | undefined;
  /**
   * Called when a write fails because the disk is full or faulty, and with undefined when the database can write again.
   */
  readonly onWriteFailure?: ((failure: Unavailable | undefined) => void) | undefined;
}

export interface ConnectionPoolOptions extends DatabaseEvents {
  readonly url: string;
  readonly pool: number;
  readonly name: string;
  readonly settings: SessionSettings;
  /** Called with the error of every statement that failed as Unavailable. */
  readonly onUnavailable: (error: Unavailable) => void;
}

export interface Connection extends WatchedConnection {
  generation: number;
  session: Session | undefined;
  isBroken: boolean;
  /** True if the replicas did not confirm the connection's last commit. */
  isUnconfirmed: boolean;
  /**
   * True if the session plans without sequential scans. Undefined at first, and after a rollback, because a rollback
   * may have reset the session's setting.
   */
  byIndex: boolean | undefined;
}

/** Creates a pool that lends usable connections, and gives up statements that the database does not answer. */
export function createConnectionPool(options: ConnectionPoolOptions) {
  const { pool: max, name, onIdleError, onUnresponsive, onUnavailable } = options;
  const { settings: asked, ...address } = readDatabaseUrl(options.url);
  const settings = { ...asked, ...options.settings };
  /**
   * The current generation of connections. Raised when the open connections may be unusable. Connections of older
   * generations are not lent again.
   */
  let generation = 0;
  const connections = new WeakMap<pg.ClientBase, Connection>();

  const config = { ...address, application_name: name, keepAlive: true };
  const watch = createStatementWatch<Connection>({ config, onUnresponsive }, (connection) => {
    connection.isBroken = true;
    // Also discards all connections opened until now: if one connection gets no answer, the others probably get none.
    generation += 1;
  });
  const pool = new pg.Pool({
    ...config,
    Client: class extends DestroyableClient {
      constructor(given?: pg.ClientConfig) {
        super(given);
        watchFromTheStart(this);
      }
    },
    max,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: 60_000,
    onConnect: prepare,
  });
  pool.on('error', (error) => onIdleError?.(error));

  /** Watches a client before it connects, because a silent database does not answer connection attempts either. */
  function watchFromTheStart(client: DestroyableClient): void {
    const connection: Connection = {
      client,
      generation,
      session: undefined,
      isBroken: false,
      isUnconfirmed: false,
      byIndex: undefined,
      since: 0,
      limit: 0,
      get backend() {
        return this.session?.backend;
      },
    };
    connections.set(client, connection);
    watch.add(connection);
    watch.begin(connection, CONNECT_MS);
    // Handles the error: the pool listens only to idle clients, so an error of a lent client would end the process.
    client.on('error', () => {
      connection.isBroken = true;
    });
    client.on('end', () => watch.remove(connection));
    client.on('notice', (notice) => {
      if (isUnconfirmedCommit(notice)) connection.isUnconfirmed = true;
    });
  }

  async function prepare(client: pg.ClientBase): Promise<void> {
    const connection = connections.get(client);
    if (!connection) throw new TypeError('the pool created another kind of client');
    connection.generation = generation;
    await runWithLimit(connection, CONNECTION_CHECK_MS, async () => {
      connection.session = await prepareSession(client, settings);
    });
  }

  async function runWithLimit<T>(connection: Connection, limitMs: number, work: () => Promise<T>): Promise<T> {
    watch.begin(connection, limitMs);
    try {
      return await work();
    } catch (error) {
      throw translateError(connection, error);
    } finally {
      watch.end(connection);
    }
  }

  function translateError({ isBroken }: Connection, error: unknown): unknown {
    const unavailable = toUnavailable(error) ?? (isBroken ? connectionLost(error) : undefined);
    if (unavailable instanceof OutdatedConnection || sqlState(unavailable) === READ_ONLY_STATE) generation += 1;
    if (unavailable) onUnavailable(unavailable);
    return unavailable ?? error;
  }

  async function lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (watch.isSilent) throw new DatabaseUnresponsive();
    // Whatever went wrong here, no statement of `work` was sent, so the error is always Unavailable.
    const client = await pool.connect().catch((error: unknown) => {
      throw toUnavailable(error) ?? connectionLost(error);
    });
    const connection = connections.get(client);
    if (connection?.generation !== generation) {
      client.release(true);
      return lend(work);
    }
    try {
      const result = await work(connection);
      if (connection.isUnconfirmed) throw new Unavailable('the commit was not confirmed by the replicas');
      return result;
    } finally {
      client.release(connection.isBroken || connection.isUnconfirmed || connection.generation !== generation);
    }
  }

  /** Runs a statement within its time limit. Does not use `runWithLimit`, which needs a closure for each statement. */
  async function runStatement<Row>(
    connection: Connection,
    limitMs: number,
    statement: UncheckedSql,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const { name, text, byIndex } =
      typeof statement === 'string' ? { name: undefined, text: statement, byIndex: undefined } : statement;
    watch.begin(connection, limitMs);
    try {
      if (byIndex !== undefined && byIndex !== connection.byIndex) {
        await connection.client.query(`set enable_seqscan = ${byIndex ? 'off' : 'on'}`);
        connection.byIndex = byIndex;
      }
      const { rows } = await connection.client.query({ name, text, values: [...values] });
      if (text.startsWith('rollback')) connection.byIndex = undefined;
      return rows as Row[];
    } catch (error) {
      throw translateError(connection, error);
    } finally {
      watch.end(connection);
    }
  }

  return {
    /** Runs `work` with a connection. Throws Unavailable if none is available, or if the commit was not confirmed. */
    lend,
    run: traceStatements(runStatement),
    /** Runs work that is not a statement of the service, such as a commit, within a time limit. */
    runWithLimit,
    /** Discards all connections, because they may lead to a server that is no longer the primary. */
    leaveReadOnlyServer(): DatabaseReadOnly {
      generation += 1;
      return new DatabaseReadOnly();
    },
    get counts() {
      return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
    },
    async close(): Promise<void> {
      await pool.end();
      watch.stop();
    },
  };
}

function connectionLost(error: unknown): Unavailable {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return new Unavailable(`database unavailable: ${code ?? (error instanceof Error ? error.message : error)}`, {
    cause: error,
  });
}

type RunStatement = <Row>(
  connection: Connection,
  limitMs: number,
  statement: UncheckedSql,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** If a tracing SDK collects spans, adds a span for each statement that runs within a span. Spans contain no values. */
function traceStatements(run: RunStatement): RunStatement {
  const tracing = findTracing();
  if (!tracing) return run;
  return async (connection, limitMs, statement, values) => {
    const started = tracing.startStatement(nameOf(statement));
    if (!started) return run(connection, limitMs, statement, values);
    try {
      const rows = await run<never>(connection, limitMs, statement, values);
      started.span.end();
      return rows;
    } catch (error) {
      failSpan(started.span, error);
      throw error;
    }
  };
}

const nameOf = (statement: UncheckedSql) =>
  typeof statement === 'string' ? firstWord(statement) : (statement.name ?? firstWord(statement.text));

const firstWord = (text: string) => /[a-z]+/i.exec(text)?.[0] ?? 'statement';
