import { OperatorError } from '../operator/operator.js';
import type { Clock } from '../platform/clock.js';
import {
  type Database,
  LONG_STATEMENT_MS,
  type Transaction,
  type Transactional,
  wrapQuery,
} from '../platform/db/database.js';
import { columns, statement } from '../platform/db/statement.js';
import { isoTime } from '../platform/db/time-sql.js';

/**
 * The time of a story that is told in one transaction. The steps of the service take their time from the clock, and their
 * statements from now(): both say what time it is in the story.
 */
export interface StoryTime {
  readonly clock: Clock;
  /** The transaction itself, for steps that want to begin transactions of their own: they become parts of it. */
  readonly database: Database;
  moveTo(at: number): Promise<void>;
  /** For temporary tables that the commit of a transaction of its own would have dropped. */
  dropTables(...names: readonly string[]): Promise<void>;
}

const SCHEMA = 'perennial_story';
const MOMENT = 'perennial.story_moment';

/** Any number, as long as every command has the same. */
const STORY_LOCK = 7_366_373_664;

const TRY_STORY_LOCK = statement({
  text: 'select pg_try_advisory_xact_lock($1) as taken',
  parameters: ['bigint'],
  columns: columns({ taken: 'boolean' }),
});

const FIND_SEARCH_PATH = statement({
  text: `select current_setting('search_path') as former`,
  parameters: [],
  columns: columns({ former: 'text' }),
});
const SET_SEARCH_PATH = statement({
  text: `select set_config('search_path', $1, true)`,
  parameters: ['text'],
});

const SET_MOMENT = statement({
  text: `select set_config('${MOMENT}', $1, true)`,
  parameters: ['text'],
});

/**
 * Everything is committed at the end or nothing at all, so that no running service takes up an order in the middle of its
 * past: it would be months behind, and be billed and debited at once.
 *
 * The functions of the schema are found before PostgreSQL's own because it stands first in the search path of this
 * transaction alone. It is gone again before the commit: nobody else ever sees it.
 */
export async function inStoryTime<T>(
  database: Transactional,
  start: number,
  tell: (story: StoryTime) => Promise<T>,
): Promise<T> {
  return database.transaction(
    async (tx) => {
      const [lock] = await tx.query(TRY_STORY_LOCK, [STORY_LOCK]);
      if (!lock?.taken) throw new OperatorError('another command is doing the same at this moment');
      let time = start;
      const moveTo = async (at: number) => {
        time = at;
        await tx.query(SET_MOMENT, [isoTime(at)]);
      };
      await moveTo(start);
      const formerPath = await beginStory(tx);
      const dropTables = async (...names: readonly string[]) => {
        await tx.query(`drop table ${names.join()}`);
      };
      const clock = { now: () => time };
      const result = await tell({ clock, database: joinTransaction(tx), moveTo, dropTables });
      await tx.query(SET_SEARCH_PATH, [formerPath]);
      await tx.query(
        `insert into audit_log (at, actor, action, subject, detail, address)
           select at, actor, action, subject, detail, address from ${SCHEMA}.audit_log order by audit_id`,
      );
      await tx.query(`drop schema ${SCHEMA} cascade`);
      return result;
    },
    { statementMs: LONG_STATEMENT_MS },
  );
}

/** Returns the search path as it was. These are no declared statements: what they name exists in this transaction alone. */
async function beginStory(tx: Transaction): Promise<string> {
  await tx.query(`create schema ${SCHEMA}`);
  for (const name of ['now', 'statement_timestamp', 'clock_timestamp']) {
    await tx.query(
      `create function ${SCHEMA}.${name}() returns timestamptz language sql stable
         as $$ select pg_catalog.current_setting('${MOMENT}')::timestamptz $$`,
    );
  }
  // Whoever writes an entry of the audit log holds its end until the commit, and everybody else waits. So the entries of the
  // story are gathered here, and go into the log all at once.
  await tx.query(`create table ${SCHEMA}.audit_log (like audit_log including identity)`);
  await tx.query(
    `create function ${SCHEMA}.add_address() returns trigger language plpgsql
       as $$ begin new.address := coalesce(new.address, nullif(current_setting('perennial.address', true), '')); return new; end $$`,
  );
  await tx.query(
    `create trigger add_address before insert on ${SCHEMA}.audit_log for each row execute function ${SCHEMA}.add_address()`,
  );
  const [path] = await tx.query(FIND_SEARCH_PATH);
  const former = path?.former ?? 'public';
  await tx.query(SET_SEARCH_PATH, [`${SCHEMA}, ${former}, pg_catalog`]);
  return former;
}

/** Statements go one after another, whatever runs at the same time: the connection is watched as for one. */
function joinTransaction(tx: Transaction): Database {
  let last: Promise<unknown> = Promise.resolve();
  const joined: Transaction = {
    query: wrapQuery(tx, <T>(run: () => Promise<T>) => {
      const next = last.then(run);
      last = next.catch(() => undefined);
      return next;
    }),
    setStatementLimit: (ms) => tx.setStatementLimit(ms),
  };
  const notHere = async () => {
    throw new Error('a transaction is no server');
  };
  return {
    query: joined.query,
    transaction: (work) => work(joined),
    connections: { total: 1, idle: 0, waiting: 0 },
    ping: notHere,
    writeFailure: () => undefined,
    inspect: notHere,
    close: async () => undefined,
  };
}
