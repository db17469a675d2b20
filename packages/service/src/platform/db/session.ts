import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { toUnavailable, Unavailable } from './failures.js';

export type SessionSettings = Readonly<Record<string, string>>;

/** How long a statement waits for a lock. Less than a statement may take, so that the error says what held it up. */
const LOCK_TIMEOUT_MS = 5_000;
/** How long a statement may take unless its transaction says otherwise: a caller waits for it. */
export const STATEMENT_TIMEOUT_MS = 6_000;

/**
 * What query plans depend on. Random pages cost as much as sequential ones, as in memory: with a higher cost, a page of due
 * events was found by sorting all of them. Compiling a statement takes longer than it gains (measured: a batch of bills took
 * twice the time). Whether whole tables may be read is changed for single statements, see `byIndex` of a statement.
 */
export const PLAN_SETTINGS: SessionSettings = { enable_seqscan: 'on', random_page_cost: '1', jit: 'off' };

/**
 * What each connection has. The texts of times depend on DateStyle. They do not depend on TimeZone (see time-sql.ts), which
 * is set all the same, for people who look at the session. Many statements have arrays with nulls as parameters.
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

/** The values of synchronous_commit under which no answered request is lost in a crash of the server. */
export const DURABLE_COMMITS: readonly string[] = ['on', 'remote_write', 'remote_apply'];

const COMMIT_SETTING = 'synchronous_commit';

/** Keeps the server's value if it is durable, because the server knows its replicas. Otherwise on. */
const DURABLE_COMMIT = `case when current_setting('${COMMIT_SETTING}') in (${DURABLE_COMMITS.map(pg.escapeLiteral).join(', ')})
  then current_setting('${COMMIT_SETTING}') else 'on' end`;

/** The value that the server, the database or the role gives to a session. */
export const GIVEN_COMMIT = `(select reset_val from pg_settings where name = '${COMMIT_SETTING}')`;

export const isSetByService = (name: string): boolean =>
  Object.keys(SETTINGS).some((own) => own.toLowerCase() === name.toLowerCase());

/** A connection that the service cannot work with, and why: the message is for an operator. */
export class UnfitConnection extends Unavailable {}

export const STATEMENT_POOLER_MESSAGE =
  'DATABASE_URL: the pooler gives statements of one connection to several sessions: it must pool sessions ' +
  '(pgbouncer: pool_mode=session, and server_reset_query=DISCARD ALL)';

/** A setting that has another value on every connection: it shows whether the session is still ours. */
const MARK = 'perennial.connection';

/** A process of the server. Its start belongs to it: process numbers are used again. */
export interface Backend {
  readonly pid: number;
  readonly startedAt: string;
}

/** A session that no other client uses. */
export interface Session {
  readonly backend: Backend;
  readonly isStillOurs: () => Promise<boolean>;
}

interface SessionReading extends Backend {
  /** The mark that was set before: null on a session that no other client has used. */
  readonly former?: string | null;
  readonly mark: string;
  readonly settings: readonly string[];
}

/**
 * Sets what the service needs by a statement, since a pooler may drop startup options, and reads it back by a second one.
 * Unless both reach the same session, and no other client has used it before, the connection is refused.
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

/** When a process of the server was started, as a number: the same in every time zone. */
export const BACKEND_STARTED_AT = '(extract(epoch from a.backend_start) * 1000000)::bigint';
const BACKEND = `pg_backend_pid() as pid,
  (select ${BACKEND_STARTED_AT}::text from pg_stat_activity a where a.pid = pg_backend_pid()) as "startedAt"`;

async function querySession(client: pg.ClientBase, text: string): Promise<SessionReading> {
  try {
    const { rows } = await client.query<SessionReading & pg.QueryResultRow>(text);
    if (!rows[0]) throw new Error('a select of one row has one');
    return rows[0];
  } catch (error) {
    const isRefusal = error instanceof pg.DatabaseError && toUnavailable(error) === undefined;
    throw isRefusal
      ? new UnfitConnection(`DATABASE_URL: a setting is refused: ${error.message}`, { cause: error })
      : error;
  }
}
