import pg from 'pg';
import { readDatabaseUrl } from './database-url.js';
import { DestroyableClient } from './destroyable-client.js';
import {
  DatabaseReadOnly,
  DatabaseUnresponsive,
  isNumberTaken,
  isUnconfirmedCommit,
  NumberTaken,
  OutdatedConnection,
  sqlState,
  toUnavailable,
  Unavailable,
} from './failures.js';
import type { Transaction, Transactional, TransactionOptions, UncheckedSql } from './queryable.js';
import { moveLaggingSequences } from './sequences.js';
import {
  prepareSession,
  type Session,
  type SessionSettings,
  STATEMENT_POOLER_MESSAGE,
  STATEMENT_TIMEOUT_MS,
  UnfitConnection,
} from './session.js';
import { traceStatements } from './statement-spans.js';
import { createStatementWatch, type WatchedConnection } from './statement-watch.js';

export {
  DatabaseReadOnly,
  DatabaseUnresponsive,
  HeldUp,
  isDatabaseAway,
  isTimeout,
  NumberTaken,
  sqlState,
  Unavailable,
  violatedConstraint,
} from './failures.js';
export type { Queryable, RunQuery, Transaction, Transactional, TransactionOptions, UncheckedSql } from './queryable.js';
export { wrapQuery } from './queryable.js';
export { columns, joinColumns, type RowOf, type Statement, statement } from './statement.js';

export interface Database extends Transactional {
  readonly connections: { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Throws Unavailable unless the database answers within so long. */
  ping(withinMs: number): Promise<void>;
  /**
   * What the server is, asked over two connections: throws UnfitConnection unless each keeps its session, and DatabaseReadOnly
   * if it must be able to write and is not.
   */
  inspect(options?: { readonly mustWrite?: boolean }): Promise<ServerFacts>;
  close(): Promise<void>;
}

// bigint as number: identifiers leave SQL as text; amounts and versions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('bigint beyond 2^53: select it as text');
  return value;
});

/** How much longer than the database itself this node waits before it gives a statement up. */
const CLIENT_GRACE_MS = 1_000;

/** The limit of what is not a statement of the service: checking a connection, and rolling a transaction back. */
const CONNECTION_CHECK_MS = 4_000;

const READ_ONLY_STATE = '25006';

/** The limit of a statement for work that no caller waits for. */
export const LONG_STATEMENT_MS = 30_000;

export interface ServerFacts {
  readonly version: number;
  readonly encoding: string;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly pool: number;
  readonly name: string;
  /** Override the settings that every connection has. */
  readonly settings?: SessionSettings;
  /** How long a statement may take. Undefined: as long as a caller waits. */
  readonly statementMs?: number;
  /** Called when a connection breaks while it is idle. */
  readonly onIdleError?: (error: Error) => void;
  /** Called when the database stops answering, and when it answers again. */
  readonly onUnresponsive?: (isSilent: boolean) => void;
}

/** A connection of the pool, with its state. */
interface Connection extends WatchedConnection {
  readonly generation: number;
  session: Session | undefined;
  /** It cannot be used any more. */
  isBroken: boolean;
  /** Its last commit was not confirmed. */
  isUnconfirmed: boolean;
  /**
   * Whether statements are planned without reading whole tables. Undefined after a rollback, which may have changed it back.
   */
  byIndex: boolean | undefined;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { pool: max, name, onIdleError, onUnresponsive, statementMs = STATEMENT_TIMEOUT_MS } = options;
  const { settings: asked, ...address } = readDatabaseUrl(options.url);
  const settings = { ...asked, statement_timeout: `${statementMs}ms`, ...options.settings };
  /** Raised when the open connections may be useless: connections of an earlier generation are not used again. */
  let generation = 0;
  const connections = new WeakMap<pg.ClientBase, Connection>();

  const config = { ...address, application_name: name, keepAlive: true };
  const watch = createStatementWatch<Connection>({ config, onUnresponsive }, (connection) => {
    connection.isBroken = true;
    // If this connection is not answered, those that were opened before it hardly will be.
    generation += 1;
  });
  const pool = new pg.Pool({
    ...config,
    Client: DestroyableClient,
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    onConnect: prepare,
  });
  pool.on('error', (error) => onIdleError?.(error));

  async function prepare(client: pg.ClientBase): Promise<void> {
    if (!(client instanceof DestroyableClient)) throw new TypeError('the pool has made another kind of client');
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
    // The pool listens to idle clients alone: one that breaks while it is checked out would end the process.
    client.on('error', () => {
      connection.isBroken = true;
    });
    client.on('end', () => watch.remove(connection));
    client.on('notice', (notice) => {
      if (isUnconfirmedCommit(notice)) connection.isUnconfirmed = true;
    });
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
    return unavailable ?? error;
  }

  /** `mayRepeat`: a statement that was not begun is run once more, over a new connection. */
  async function withConnection<T>(work: (connection: Connection) => Promise<T>, mayRepeat = false): Promise<T> {
    if (watch.isSilent) throw new DatabaseUnresponsive();
    // Whatever went wrong, no statement was sent yet.
    const client = await pool.connect().catch((error: unknown) => {
      throw toUnavailable(error) ?? connectionLost(error);
    });
    const connection = connections.get(client);
    if (connection?.generation !== generation) {
      client.release(true);
      return withConnection(work, mayRepeat);
    }
    let error: unknown;
    try {
      const result = await work(connection);
      if (connection.isUnconfirmed) throw new Unavailable('the commit was not confirmed by the replicas');
      return result;
    } catch (caught) {
      error = caught;
    } finally {
      client.release(connection.isBroken || connection.isUnconfirmed || connection.generation !== generation);
    }
    if (mayRepeat && error instanceof OutdatedConnection) return withConnection(work);
    if (!isNumberTaken(error)) throw error;
    await moveLaggingSequences(database);
    throw new NumberTaken('a sequence was behind its numbers', { cause: error });
  }

  const run = traceStatements(runStatement);

  /** As `runWithLimit`, without its closure: every statement comes here. */
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

  async function runTransaction<T>(
    connection: Connection,
    work: (tx: Transaction) => Promise<T>,
    { statementMs: ownMs, readOnly: readOnlyError = false }: TransactionOptions,
  ): Promise<T> {
    const { client } = connection;
    let limitMs = clientLimit(ownMs ?? statementMs);
    const begin = `begin${readOnlyError ? ' read only' : ''}${ownMs === undefined ? '' : `; ${limitStatement(ownMs)}`}`;
    await runWithLimit(connection, limitMs, () => client.query(begin));
    try {
      const result = await work({
        query: (statement: UncheckedSql, values?: readonly unknown[]) => run(connection, limitMs, statement, values),
        async setStatementLimit(ms) {
          await run(connection, limitMs, limitStatement(ms));
          limitMs = clientLimit(ms);
        },
      });
      const { command } = await runWithLimit(connection, limitMs, () => client.query('commit'));
      // PostgreSQL answers ROLLBACK when a statement of the transaction has failed and its error was swallowed.
      if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command}`);
      return result;
    } catch (error) {
      if (!connection.isBroken) {
        connection.byIndex = undefined;
        await runWithLimit(connection, CONNECTION_CHECK_MS, () => client.query('rollback')).catch(() => {
          connection.isBroken = true;
        });
      }
      throw error;
    }
  }

  /** A database that is read-only can serve no request: even reads are admitted by a statement that writes. */
  async function requireWritable(): Promise<void> {
    const [row] = await database.query<{ isReadOnly: boolean }>(
      `select current_setting('transaction_read_only')::boolean as "isReadOnly"`,
    );
    if (row?.isReadOnly) throw readOnly();
  }

  /** Open connections may lead to the server that was the primary before, so they are not used again. */
  function readOnly(): DatabaseReadOnly {
    generation += 1;
    return new DatabaseReadOnly();
  }

  let pinging: Promise<unknown> | undefined;
  const database: Database = {
    query: (statement: UncheckedSql, values?: readonly unknown[]) =>
      withConnection((connection) => run(connection, clientLimit(statementMs), statement, values), true),
    transaction: (work, transactionOptions = {}) =>
      withConnection((connection) => runTransaction(connection, work, transactionOptions)),
    async ping(withinMs) {
      pinging ??= requireWritable().finally(() => {
        pinging = undefined;
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new DatabaseUnresponsive()), withinMs);
      });
      await Promise.race([pinging, late]).finally(() => clearTimeout(timer));
    },
    inspect: ({ mustWrite = false } = {}) =>
      withConnection((one) =>
        // Opened while the first is held: a pooler that shares sessions would give the second the session of the first.
        withConnection(async (other) => {
          for (const connection of [one, other, one]) {
            const isOurs = await runWithLimit(connection, CONNECTION_CHECK_MS, async () =>
              connection.session?.isStillOurs(),
            );
            if (!isOurs) throw new UnfitConnection(STATEMENT_POOLER_MESSAGE);
          }
          const [row] = await run<ServerFacts & { readonly isReadOnly: boolean }>(
            one,
            CONNECTION_CHECK_MS,
            `select current_setting('server_version_num')::integer / 10000 as version,
               current_setting('server_encoding') as encoding,
               current_setting('transaction_read_only')::boolean as "isReadOnly"`,
          );
          if (!row) throw new Error('a select of one row has one');
          if (row.isReadOnly && mustWrite) throw readOnly();
          return row;
        }),
      ),
    get connections() {
      return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
    },
    close: async () => {
      await pool.end();
      watch.stop();
    },
  };
  return database;
}

const limitStatement = (ms: number) => `set local statement_timeout = ${ms}`;
const clientLimit = (ms: number) => (ms === 0 ? 0 : ms + CLIENT_GRACE_MS);

function connectionLost(error: unknown): Unavailable {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return new Unavailable(`database unavailable: ${code ?? (error instanceof Error ? error.message : error)}`, {
    cause: error,
  });
}
