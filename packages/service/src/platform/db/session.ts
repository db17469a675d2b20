import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { toUnavailable, Unavailable } from './failures.js';

export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Time in ms that a statement waits for a lock. Shorter than the default statement limit, so that the error says that a
 * lock was the cause.
 */
const LOCK_TIMEOUT_MS = 5_000;
/** Default time limit of a statement in ms. Short, because a caller waits for the statement. */
export const STATEMENT_TIMEOUT_MS = 6_000;

/**
 * Settings that affect query plans. Random pages cost as much as sequential pages, as in memory. With a higher cost,
 * PostgreSQL sorted all due events to find the first of them. JIT is off, because it doubled the time of a batch of
 * bills. `byIndex` of a statement changes enable_seqscan.
 */
export const PLAN_SETTINGS: SessionSettings = { enable_seqscan: 'on', random_page_cost: '1', jit: 'off' };

/**
 * Settings of each connection. DateStyle determines the text of times. TimeZone does not (see time-sql.ts), and is set
 * only for operators who look at a session. array_nulls is on, because many parameters are arrays with nulls.
 */
const SETTINGS: SessionSettings = {
  client_encoding: 'UTF8',
  TimeZone: 'Asia/Shanghai',
  DateStyle: 'ISO, MDY',
  array_nulls: 'on',
  ...PLAN_SETTINGS,
  lock_timeout: `${LOCK_TIMEOUT_MS}ms`,
  statement_timeout: `${STATEMENT_TIMEOUT_MS}ms`,
  idle_in_transaction_session_timeout: '30s',
  idle_session_timeout: '0',
};

/** With these values of synchronous_commit, a crash of the server loses no request that was answered. */
export const DURABLE_COMMITS: readonly string[] = ['on', 'remote_write', 'remote_apply'];

const COMMIT_SETTING = 'synchronous_commit';

/** Keeps the server's value if it is durable, because operators chose it for their replicas. Otherwise `on`. */
const DURABLE_COMMIT = `case when current_setting('${COMMIT_SETTING}') in (${DURABLE_COMMITS.map(pg.escapeLiteral).join(', ')})
  then current_setting('${COMMIT_SETTING}') else 'on' end`;

/** SQL: the value that a new session gets from the server, the database or the role. */
export const GIVEN_COMMIT = `(select reset_val from pg_settings where name = '${COMMIT_SETTING}')`;

export const isSetByService = (name: string): boolean =>
  Object.keys(SETTINGS).some((own) => own.toLowerCase() === name.toLowerCase());

/** Thrown if the service cannot use a connection. The message tells operators what to change. */
export class UnfitConnection extends Unavailable {}

export const STATEMENT_POOLER_MESSAGE =
  'DATABASE_URL: the pooler spreads the statements of one connection over several sessions: set it to pool sessions ' +
  '(pgbouncer: pool_mode=session, and server_reset_query=DISCARD ALL)';

/** A setting that the service sets to a unique value on each connection, to recognize its own session. */
const MARK = 'perennial.connection';

/** A server process. The start time distinguishes it from a later process with the same number. */
export interface Backend {
  readonly pid: number;
  readonly startedAt: string;
}

/** A session that only this connection uses. */
export interface Session {
  readonly backend: Backend;
  readonly isStillOurs: () => Promise<boolean>;
}

interface SessionReading extends Backend {
  /** The mark found before this connection set its own. Null or empty if there was none. */
  readonly former?: string | null;
  readonly mark: string;
  readonly settings: readonly string[];
}

/**
 * Sets all settings of a connection by a statement, because a pooler may drop startup options. Reads the settings back
 * by a second statement. Throws if the two statements reached different sessions, or if the session has the mark of
 * another connection.
 */
export async function prepareSession(client: pg.ClientBase, more: SessionSettings): Promise<Session> {
  const literals = Object.entries({ ...SETTINGS, ...more }).map(
    ([name, value]) => [name, pg.escapeLiteral(value)] as const,
  );
  const wanted = new Map([[COMMIT_SETTING, DURABLE_COMMIT], ...literals]);
  const mark = randomBytes(12).toString('hex');
  const set = ([name, expression]: readonly [string, string]) =>
    `set_config(${pg.escapeLiteral(name)}, ${expression}, false)`;
  const before = await querySession(
    client,
    `select ${BACKEND}, current_setting('${MARK}', true) as former, ${set([MARK, pg.escapeLiteral(mark)])} as mark,
       array[${[...wanted].map(set).join(', ')}] as settings`,
  );
  const readBack = () =>
    querySession(
      client,
      `select ${BACKEND}, coalesce(current_setting('${MARK}', true), '') as mark,
         array[${[...wanted.keys()].map((name) => `current_setting(${pg.escapeLiteral(name)})`).join(', ')}] as settings`,
    );
  const isSame = (after: SessionReading) =>
    after.pid === before.pid &&
    after.startedAt === before.startedAt &&
    after.mark === mark &&
    after.settings.join() === before.settings.join();
  if (before.former || !isSame(await readBack())) throw new UnfitConnection(STATEMENT_POOLER_MESSAGE);
  const { pid, startedAt } = before;
  return { backend: { pid, startedAt }, isStillOurs: async () => isSame(await readBack()) };
}

/** SQL: the start time of a server process as a number, which does not depend on the time zone. */
export const BACKEND_STARTED_AT = '(extract(epoch from a.backend_start) * 1000000)::bigint';
const BACKEND = `pg_backend_pid() as pid,
  (select ${BACKEND_STARTED_AT}::text from pg_stat_activity a where a.pid = pg_backend_pid()) as "startedAt"`;

async function querySession(client: pg.ClientBase, text: string): Promise<SessionReading> {
  try {
    const { rows } = await client.query<SessionReading & pg.QueryResultRow>(text);
    if (!rows[0]) throw new Error('a select of one row returned none');
    return rows[0];
  } catch (error) {
    const isRefusal = error instanceof pg.DatabaseError && toUnavailable(error) === undefined;
    throw isRefusal
      ? new UnfitConnection(`DATABASE_URL: the server refused a setting: ${error.message}`, { cause: error })
      : error;
  }
}
