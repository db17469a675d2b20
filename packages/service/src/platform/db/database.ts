import { CONNECTION_CHECK_MS, type Connection, createConnectionPool, type DatabaseEvents } from './connections.js';
import {
  DatabaseUnresponsive,
  isNumberTaken,
  NumberTaken,
  OutdatedConnection,
  sqlState,
  type Unavailable,
} from './failures.js';
import type { Sign, Transaction, Transactional, TransactionOptions, UncheckedSql } from './queryable.js';
import { moveLaggingSequences } from './sequences.js';
import {
  GIVEN_COMMIT,
  type SessionSettings,
  STATEMENT_POOLER_MESSAGE,
  STATEMENT_TIMEOUT_MS,
  UnfitConnection,
} from './session.js';
import { createWriteWatch } from './write-watch.js';

export type { DatabaseEvents } from './connections.js';
export { declareFind, declareHas, declareList, declareRequire, declareWrite } from './declared.js';
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
export type {
  Queryable,
  RunQuery,
  Sign,
  Transaction,
  Transactional,
  TransactionOptions,
  UncheckedSql,
} from './queryable.js';
export { queryOne, requireOne, wrapQuery } from './queryable.js';
export {
  column,
  columns,
  columnsOf,
  joinColumns,
  nullableColumns,
  type RowOf,
  type Statement,
  statement,
} from './statement.js';

export interface Database extends Transactional {
  readonly connections: { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Throws Unavailable if the database does not answer in time or cannot write. */
  ping(withinMs: number): Promise<void>;
  /**
   * Returns the error of a write that failed because the disk is full or faulty. Undefined if the database can write.
   */
  writeFailure(): Unavailable | undefined;
  /**
   * Checks two connections, and returns facts about the server. Throws UnfitConnection if a connection's session
   * changes between statements. Throws DatabaseReadOnly if `mustWrite` is true and the server cannot write.
   */
  inspect(options?: { readonly mustWrite?: boolean }): Promise<ServerFacts>;
  /** Sets the function with which transactions of this database sign. */
  signWith(sign: Sign): void;
  close(): Promise<void>;
}

/** The time in ms that this node waits beyond the database's own limit before it gives up a statement. */
const CLIENT_GRACE_MS = 1_000;

/** Time limit in ms of statements in background work and commands. */
export const LONG_STATEMENT_MS = 30_000;

export interface ServerFacts {
  readonly version: number;
  readonly encoding: string;
  /** The server's own value, before the service sets a different one. */
  readonly synchronousCommit: string;
}

export interface DatabaseOptions extends DatabaseEvents {
  readonly url: string;
  readonly pool: number;
  readonly name: string;
  /** Settings for every connection, in place of the defaults. */
  readonly settings?: SessionSettings;
  /** Time limit of a statement in ms. Default: STATEMENT_TIMEOUT_MS. */
  readonly statementMs?: number | undefined;
}

export function openDatabase(options: DatabaseOptions): Database {
  const { statementMs = STATEMENT_TIMEOUT_MS } = options;
  const settings = { statement_timeout: `${statementMs}ms`, ...options.settings };
  const pool = createConnectionPool({ ...options, settings, onUnavailable: (error) => writes.note(error) });
  const writes = createWriteWatch({ attempt: attemptWrite, onChange: options.onWriteFailure });
  let sign: Sign | undefined;

  /** With `mayRepeat`, runs `work` again over a new connection if its statement was not begun. */
  async function withConnection<T>(work: (connection: Connection) => Promise<T>, mayRepeat = false): Promise<T> {
    try {
      return await pool.lend(work);
    } catch (error) {
      if (mayRepeat && error instanceof OutdatedConnection) return withConnection(work);
      if (!isNumberTaken(error)) throw error;
      await moveLaggingSequences(database);
      throw new NumberTaken('a sequence was behind its numbers', { cause: error });
    }
  }

  async function runTransaction<T>(
    connection: Connection,
    work: (tx: Transaction) => Promise<T>,
    { statementMs: ownMs, readOnly = false }: TransactionOptions,
  ): Promise<T> {
    const { client } = connection;
    let limitMs = clientLimit(ownMs ?? statementMs);
    const begin = `begin${readOnly ? ' read only' : ''}${ownMs === undefined ? '' : `; ${limitStatement(ownMs)}`}`;
    await pool.runWithLimit(connection, limitMs, () => client.query(begin));
    try {
      const result = await work({
        query: (statement: UncheckedSql, values?: readonly unknown[]) =>
          pool.run(connection, limitMs, statement, values),
        async setStatementLimit(ms) {
          await pool.run(connection, limitMs, limitStatement(ms));
          limitMs = clientLimit(ms);
        },
        sign,
      });
      const { command } = await pool.runWithLimit(connection, limitMs, () => client.query('commit'));
      // PostgreSQL answers a commit with ROLLBACK if a statement failed and the code ignored its error.
      if (command !== 'COMMIT') throw new Error(`a transaction ended with ${command}`);
      return result;
    } catch (error) {
      if (!connection.isBroken) {
        connection.byIndex = undefined;
        await pool
          .runWithLimit(connection, CONNECTION_CHECK_MS, () => client.query('rollback'))
          .catch(() => {
            connection.isBroken = true;
          });
      }
      throw error;
    }
  }

  /**
   * Throws if the database is read-only. The service then cannot serve even reads, because admitting a request writes.
   */
  async function requireWritable(): Promise<void> {
    const [row] = await database.query<{ isReadOnly: boolean }>(
      `select current_setting('transaction_read_only')::boolean as "isReadOnly"`,
    );
    if (row?.isReadOnly) throw pool.leaveReadOnlyServer();
  }

  /**
   * Tests whether the disk has space: allocates more than PostgreSQL adds to a table at a time (64 pages), and rolls
   * back. Uses a temporary table, which writes no WAL for its rows and blocks no other session.
   */
  async function attemptWrite(): Promise<void> {
    await database
      .transaction(async (tx) => {
        await tx.query(`set local temp_tablespaces = ''`);
        await tx.query('create temporary table write_attempt (filler text)');
        await tx.query('alter table write_attempt alter column filler set storage external');
        await tx.query(`insert into write_attempt select repeat('x', ${ATTEMPTED_BYTES})`);
        throw new RolledBack();
      })
      .catch((error: unknown) => {
        // If the role may not create temporary tables, the attempt proves nothing and counts as a success.
        if (!(error instanceof RolledBack) && sqlState(error) !== NO_PRIVILEGE_STATE) throw error;
      });
  }

  let pinging: Promise<unknown> | undefined;
  const database: Database = {
    query: (statement: UncheckedSql, values?: readonly unknown[]) =>
      withConnection((connection) => pool.run(connection, clientLimit(statementMs), statement, values), true),
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
      if (writes.failure) throw writes.failure;
    },
    writeFailure: () => writes.failure,
    inspect: ({ mustWrite = false } = {}) =>
      withConnection((one) =>
        // Opens a second connection while the first is lent. A pooler that shares sessions would give both the same
        // session.
        withConnection(async (other) => {
          for (const connection of [one, other, one]) {
            const isOurs = await pool.runWithLimit(connection, CONNECTION_CHECK_MS, async () =>
              connection.session?.isStillOurs(),
            );
            if (!isOurs) throw new UnfitConnection(STATEMENT_POOLER_MESSAGE);
          }
          const [row] = await pool.run<ServerFacts & { readonly isReadOnly: boolean }>(
            one,
            CONNECTION_CHECK_MS,
            `select current_setting('server_version_num')::integer / 10000 as version,
               current_setting('server_encoding') as encoding, ${GIVEN_COMMIT} as "synchronousCommit",
               current_setting('transaction_read_only')::boolean as "isReadOnly"`,
          );
          if (!row) throw new Error('a select of one row returned none');
          if (row.isReadOnly && mustWrite) throw pool.leaveReadOnlyServer();
          return row;
        }),
      ),
    signWith(given) {
      sign = given;
    },
    prepareSigning: async () => sign?.('').catch(() => undefined),
    get connections() {
      return pool.counts;
    },
    close() {
      writes.stop();
      return pool.close();
    },
  };
  return database;
}

/** Thrown to roll a transaction back on purpose. */
class RolledBack extends Error {}

const ATTEMPTED_BYTES = 1_048_576;
export const NO_PRIVILEGE_STATE = '42501';

const limitStatement = (ms: number) => `set local statement_timeout = ${ms}`;
const clientLimit = (ms: number) => (ms === 0 ? 0 : ms + CLIENT_GRACE_MS);
