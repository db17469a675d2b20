import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { toUnavailable, Unavailable } from './failures.js';

export type SessionSettings = Readonly<Record<string, string>>;

/** Time for which a statement waits for a lock. Shorter than the statement limit, so that the error names the lock. */
const LOCK_TIMEOUT_MS = 5_000;
/** Default time limit of a statement, because a caller waits for it. */
export const STATEMENT_TIMEOUT_MS = 6_000;

/**
 * Settings that affect query plans. Random pages cost as much as sequential ones, as in memory: with a higher cost, a
 * page of due events was found by sorting all of them. JIT takes longer than it gains (measured: a batch of bills took
 * twice the time). `byIndex` of a statement changes enable_seqscan.
 */
export const PLAN_SETTINGS: SessionSettings = { enable_seqscan: 'on', random_page_cost: '1', jit: 'off' };

/**
 * Settings of each connection. The texts of times depend on DateStyle, but not on TimeZone (see time-sql.ts), which is
 * set for people who look at the session. Many statements have arrays with nulls as parameters.
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

/** Values of synchronous_commit that lose no answered request if the server crashes. */
export const DURABLE_COMMITS: readonly string[] = ['on', 'remote_write', 'remote_apply'];

const COMMIT_SETTING = 'synchronous_commit';

/** Keeps the server's value if it is durable, because the server knows its replicas. Else on. */
const DURABLE_COMMIT = `case when current_setting('${COMMIT_SETTING}') in (${DURABLE_COMMITS.map(pg.escapeLiteral).join(', ')})
  then current_setting('${COMMIT_SETTING}') else 'on' end`;

/** Value that the server, the database or the role gives to a session. */
export const GIVEN_COMMIT = `(select reset_val from pg_settings where name = '${COMMIT_SETTING}')`;

export const isSetByService = (name: string): boolean =>
  Object.keys(SETTINGS).some((own) => own.toLowerCase() === name.toLowerCase());

/** A connection that the service cannot use. The message is for operators. */
export class UnfitConnection extends Unavailable {}

export const STATEMENT_POOLER_MESSAGE =
  'DATABASE_URL: the pooler spreads the statements of one connection over several sessions: set it to pool sessions ' +
  '(pgbouncer: pool_mode=session, and server_reset_query=DISCARD ALL)';

/** A setting with a unique value per connection, which shows if the session is still ours. */
const MARK = 'perennial.connection';

/** A server process. Includes its start time, because process numbers are reused. */
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
  /** Mark that was set before. Null on a session that no other client has used. */
  readonly former?: string | null;
  readonly mark: string;
  readonly settings: readonly string[];
}

/**
 * Sets what the service needs by a statement, because a pooler may drop startup options, and reads it back by a second
 * one. Throws if the two reach different sessions, or if another client has used the session before.
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

/** Start time of a server process as a number, which is the same in every time zone. */
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
