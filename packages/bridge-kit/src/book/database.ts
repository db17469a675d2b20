import pg from 'pg';
import { BadSetting } from '../bad-setting.js';
import { migrate } from './migrations.js';
import type { Queryable, Row } from './queryable.js';

export interface BookDatabase extends Queryable {
  /** The schema that holds the tables. */
  readonly schema: string;
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface BookDatabaseOptions {
  readonly url: string;
  readonly schema: string;
  /** The name of the institution that owns the book. */
  readonly institution: string;
  /** The number of connections. */
  readonly pool: number;
  /** Called when an idle connection breaks. The next query opens a new connection. */
  readonly onLost: (error: Error) => void;
}

const INT8 = 20;
/** The statement timeout: after a longer wait, the caller would not get its response in time. */
const STATEMENT_MS = 4_000;
const STEP_MS = 600_000;

/** Reads int8 as a number: the book's values are amounts and times of the protocol, which are below 2^53. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);

export async function openBookDatabase(options: BookDatabaseOptions): Promise<BookDatabase> {
  const { url, schema, institution, pool: max, onLost } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new BadSetting('DATABASE_SCHEMA: the schema must be a name of small letters, digits and underscores');
  }
  const how = {
    connectionString: url,
    types,
    application_name: 'bridge',
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    onConnect: requireDurableCommits,
  };
  await makeBook(how, schema, institution);
  const pool = new pg.Pool({
    ...how,
    max,
    query_timeout: STATEMENT_MS + 1_000,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
  });
  pool.on('error', onLost);
  return {
    schema,
    query: (text, values) => queryOn(pool, text, values),
    transaction: (work) => runTransaction(pool, work),
    close: () => pool.end(),
  };
}

/**
 * Sets synchronous_commit to on if it is off or local: the number of a debit or refund must be on disk before the
 * institution is called.
 */
async function requireDurableCommits(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')`,
  );
}

/**
 * Migrates on a separate connection with a longer timeout, because creating an index may take longer than a request is
 * allowed to.
 */
async function makeBook(how: pg.PoolConfig, schema: string, institution: string): Promise<void> {
  const pool = new pg.Pool({ ...how, max: 1, query_timeout: STEP_MS, statement_timeout: STEP_MS });
  pool.on('error', () => undefined);
  try {
    await requireReachable(pool);
    await runTransaction(pool, (tx) => migrate(tx, schema, institution));
  } finally {
    await pool.end();
  }
}

/** Connects once. Throws with the reason, but without the user and password of the URL. */
async function requireReachable(pool: pg.Pool): Promise<void> {
  try {
    (await pool.connect()).release();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? `${error.code} ` : '';
    const why = error instanceof Error ? error.message.replaceAll(/\/\/[^@\s]{0,1000}@/g, '//…@') : '';
    throw new BadSetting(`DATABASE_URL: the database cannot be opened: ${code}${why}`.trim());
  }
}

async function queryOn<Found extends Row>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Found[]> {
  const { rows } = await on.query<Found>(text, [...values]);
  return rows;
}

async function runTransaction<T>(pool: pg.Pool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  // A broken connection first fails the query in flight and then emits `error`. Without a listener, the event would end
  // the process.
  const listen = () => undefined;
  client.on('error', listen);
  try {
    await client.query('begin');
    const result = await work({ query: (text, values) => queryOn(client, text, values) });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((broken: Error) => {
      failure = broken;
    });
    throw error;
  } finally {
    client.off('error', listen);
    client.release(failure);
  }
}
