import pg from 'pg';

/** What SQL functions are given: a connection in a transaction, or the pool for a statement of its own. */
export interface Queryable {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export type Statement =
  | string
  | {
      /** A named statement is parsed and planned once per connection: for the hot ones. */
      readonly name: string;
      readonly text: string;
      /** How long it may take outside a transaction, if that is less than any may: it is HeldUp then. */
      readonly limitMs?: number;
    };

export interface Transactional extends Queryable {
  /** No network call belongs inside `work`: it would hold locks for as long as a stranger likes. */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface TransactionOptions {
  /** How long each of its statements may take, if that is less than any may: for what only reads. */
  readonly statementMs?: number;
}

export interface Database extends Transactional {
  readonly connections: { readonly total: number; readonly idle: number; readonly waiting: number };
  close(): Promise<void>;
}

/** The database cannot be reached, is out of room or did not say whether it committed: try again later. */
export class Unavailable extends Error {}

/**
 * A lock was not to be had in time, or a statement took longer than it may. Nothing was changed, the database is there and
 * the connection is good: the same may well succeed later.
 */
export class HeldUp extends Unavailable {}

/** The database itself is away, which is everybody's matter and not one statement's. */
export function isAway(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !(error instanceof HeldUp);
}

// bigint as number: identifiers leave SQL as text; amounts and versions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('bigint beyond 2^53: select it as text');
  return value;
});

/**
 * What a statement's result and its plan depend on. A named statement keeps its plan: one made while a table was a page
 * long would read it whole until it is next analyzed. Pages out of order count like pages in order, as in memory:
 * taken for dearer, a page of due events was sorted out of all of them. Compiling a statement takes longer than it gains
 * (measured: a batch of bills took twice the time).
 */
export const SESSION = '-c TimeZone=Asia/Shanghai -c enable_seqscan=off -c random_page_cost=1 -c jit=off';

export interface DatabaseOptions {
  readonly url: string;
  readonly pool: number;
  readonly name: string;
  /** Told about connections that broke while nobody used them. */
  readonly onIdleError?: (error: Error) => void;
}

export function openDatabase({ url, pool: max, name, onIdleError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: name,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // lock_timeout is what a twin of an idempotent request waits at most (docs/decisions/0003-idempotency.md).
    options: `${SESSION} -c lock_timeout=10s -c statement_timeout=30s -c idle_in_transaction_session_timeout=30s`,
  });
  pool.on('error', (error) => onIdleError?.(error));
  // Under synchronous replication a cancelled wait answers COMMIT with a warning: the outcome is unknown, not done.
  const doubtful = new WeakSet<pg.ClientBase>();
  pool.on('connect', (client) => {
    // The pool listens to idle clients alone: one that breaks while it is checked out would end the process.
    client.on('error', () => undefined);
    client.on('notice', (notice) => {
      if (notice.code === '01000') doubtful.add(client);
    });
  });

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw asUnavailable(error) ?? error;
    });
    let broken = false;
    try {
      const result = await work(client);
      if (doubtful.delete(client)) throw new Unavailable('the commit was not confirmed by the replicas');
      return result;
    } catch (error) {
      const unavailable = asUnavailable(error);
      broken = isAway(unavailable);
      throw unavailable ?? error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * Ends what a connection is doing, from another one. A timeout that is set for one statement takes a transaction, two more
   * trips to the database for each; this costs nothing until it is needed. Should it fail, the session's own timeout is left.
   */
  async function interrupt(pid: number): Promise<void> {
    const client = new pg.Client({ connectionString: url, application_name: name, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select pg_cancel_backend($1)', [pid]);
    } catch {
      // Whatever is wrong with the database, the statement itself will say so.
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** The connection is free again when nobody is about to interrupt it any more. */
  async function runWithin<Row>(client: pg.PoolClient, limitMs: number, work: () => Promise<Row[]>): Promise<Row[]> {
    let interruption: Promise<void> | undefined;
    const timer = setTimeout(() => {
      interruption = interrupt((client as pg.PoolClient & { readonly processID: number }).processID);
    }, limitMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      await interruption;
    }
  }

  return {
    query: (statement, values) =>
      withClient((client) => {
        const limitMs = typeof statement === 'string' ? undefined : statement.limitMs;
        const work = () => run<never>(client, statement, values);
        return limitMs === undefined ? work() : runWithin(client, limitMs, work);
      }),
    transaction: (work, { statementMs } = {}) =>
      withClient(async (client) => {
        await client.query(
          statementMs === undefined ? 'begin' : `begin read only; set local statement_timeout = ${statementMs}`,
        );
        try {
          const result = await work({ query: (statement, values) => run(client, statement, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch(() => undefined);
          throw error;
        }
      }),
    get connections() {
      return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
    },
    close: () => pool.end(),
  };
}

async function run<Row>(client: pg.ClientBase, statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
  const query = typeof statement === 'string' ? { text: statement } : { name: statement.name, text: statement.text };
  const result = await client.query({ ...query, values: [...values] });
  return result.rows as Row[];
}

/** SQLSTATE classes 08 (connection), 53 (resources), 57P (shutdown), 58 (system), and a read-only standby. */
const UNAVAILABLE_STATE = /^(08|53|57P|58|25006|XX001|XX002)/;
const UNAVAILABLE_ERRNO = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
const UNAVAILABLE_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/;

/** lock_timeout, statement_timeout, a deadlock, a conflict of two transactions. */
const HELD_UP_STATE = new Set(['55P03', '57014', '40P01', '40001']);

function asUnavailable(error: unknown): Unavailable | undefined {
  if (error instanceof Unavailable) return error;
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (HELD_UP_STATE.has(code)) return new HeldUp(`held up in the database: ${code}`, { cause: error });
  const gone = UNAVAILABLE_STATE.test(code) || UNAVAILABLE_ERRNO.test(code) || UNAVAILABLE_TEXT.test(error.message);
  return gone ? new Unavailable(`database unavailable: ${code || error.message}`, { cause: error }) : undefined;
}

/** A lock or a statement took longer than it may: the same at once would only take as long again. */
export function isOutOfTime(error: unknown): error is HeldUp {
  return error instanceof HeldUp && ['55P03', '57014'].includes(sqlState(error) ?? '');
}

/** The SQLSTATE of a database error, if it is one. */
export function sqlState(error: unknown): string | undefined {
  const told = error instanceof Unavailable ? error.cause : error;
  return told instanceof pg.DatabaseError ? told.code : undefined;
}

/** The constraint that a database error names, if any. */
export function constraintOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined;
}
