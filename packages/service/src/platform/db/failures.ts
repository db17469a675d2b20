import pg from 'pg';

/** The database cannot be reached, is out of room or did not say whether it committed: try again later. */
export class Unavailable extends Error {}

/** The database says nothing at all: nobody's statement tells more than that. */
export class DatabaseUnresponsive extends Unavailable {
  constructor() {
    super('database unavailable: it does not answer');
  }
}

/** There, and of no use: a standby, or told to be read-only. */
export class DatabaseReadOnly extends Unavailable {
  constructor() {
    super('database unavailable: it is read-only: a standby, or default_transaction_read_only is on');
  }
}

/**
 * A lock was not to be had in time, or a statement took longer than it may. Nothing was changed, the database is there and
 * the connection is good: the same may well succeed later.
 */
export class HeldUp extends Unavailable {}

/**
 * What the connection has prepared is not what the database has any more, or not what this node takes it for. The statement
 * was not begun: on a new connection it will be.
 */
export class OutdatedConnection extends Unavailable {}

/**
 * A sequence gave out a number that is used already: it was behind, as after a restore. By the time that this is thrown it is
 * not any more, and nothing else was changed: the same will have another number.
 */
export class NumberTaken extends HeldUp {}

/** The database itself is away, which is everybody's matter and not one statement's. */
export function isDatabaseAway(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !(error instanceof HeldUp);
}

/** A lock or a statement took longer than it may: the same at once would only take as long again. */
export function isTimeout(error: unknown): error is HeldUp {
  return error instanceof HeldUp && ['55P03', '57014'].includes(sqlState(error) ?? '');
}

/** What a failed statement means: an Unavailable of this kind. Any other state is a mistake of ours, or of the data. */
export type FailureMeaning = 'away' | 'held up' | 'outdated';

export interface DatabaseFailure {
  /** A SQLSTATE, or the first characters of many. */
  readonly state: string;
  readonly meaning: FailureMeaning;
  /** For people: a command says it, and so does the log. */
  readonly why: string;
  /** Where the server says so, when the state alone could mean something else. Not its text, which it may translate. */
  readonly routine?: string;
}

/** The one table of what PostgreSQL, or a pooler in front of it, says when nobody here has done anything wrong. */
export const DATABASE_FAILURES: readonly DatabaseFailure[] = [
  { state: '08', meaning: 'away', why: 'the connection broke, or a pooler has no server for it' },
  {
    state: '0A000',
    meaning: 'outdated',
    why: 'a prepared statement whose columns have changed since: another node has migrated the schema',
    routine: 'RevalidateCachedQuery',
  },
  { state: '25006', meaning: 'away', why: 'read-only: a standby, or a primary that was demoted' },
  { state: '25P03', meaning: 'away', why: 'idle in a transaction for too long: the server has ended the session' },
  { state: '25P04', meaning: 'away', why: 'a transaction took too long: the server has ended the session' },
  { state: '26000', meaning: 'outdated', why: 'a prepared statement that is not there: the session is another one' },
  { state: '28', meaning: 'away', why: 'the server does not let the service in any more' },
  { state: '3D000', meaning: 'away', why: 'the database is not there any more' },
  { state: '40001', meaning: 'held up', why: 'two transactions in each other’s way' },
  { state: '40003', meaning: 'away', why: 'the server does not know whether the statement was done' },
  { state: '40P01', meaning: 'held up', why: 'a deadlock' },
  { state: '42501', meaning: 'away', why: 'the service’s role may not do what it needs to, or not any more' },
  {
    state: '42P05',
    meaning: 'outdated',
    why: 'a prepared statement that is there already: the session is another one',
  },
  { state: '53', meaning: 'away', why: 'out of disk, memory or connections' },
  { state: '55P03', meaning: 'held up', why: 'something else in the database holds a lock for too long' },
  {
    state: '57014',
    meaning: 'held up',
    why: 'a statement took longer than it may, or an operator has cancelled the statement',
  },
  { state: '57P', meaning: 'away', why: 'the server stops, starts, or has ended the session' },
  { state: '58', meaning: 'away', why: 'the server cannot read or write its files' },
  { state: 'XX001', meaning: 'away', why: 'a damaged table' },
  { state: 'XX002', meaning: 'away', why: 'a damaged index' },
];

/** An error of the database as the Unavailable that it means; nothing if it means none. */
export function toUnavailable(error: unknown): Unavailable | undefined {
  if (error instanceof Unavailable) return error;
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { code = '', routine } = error;
  const failure = DATABASE_FAILURES.find(
    (one) => code.startsWith(one.state) && (one.routine === undefined || one.routine === routine),
  );
  if (failure === undefined) return undefined;
  const Kind = { away: Unavailable, 'held up': HeldUp, outdated: OutdatedConnection }[failure.meaning];
  const meaning = failure.meaning === 'away' ? 'database unavailable' : failure.meaning;
  return new Kind(`${meaning}: ${failure.why} (${code})`, { cause: error });
}

/**
 * Under synchronous replication a cancelled wait answers a commit with this warning: it is done here, and perhaps nowhere
 * else. A resend finds it done, and is admitted by a statement that commits something too, and so waits for both.
 */
export const isUnconfirmedCommit = ({ code, routine }: Pick<pg.DatabaseError, 'code' | 'routine'>): boolean =>
  code === '01000' && routine === 'SyncRepWaitForLSN';

/** Keys that a sequence alone gives out. */
const NUMBERED_TABLES = new Set(['orders', 'agreements', 'channels', 'audit_log', 'reconciliation_differences']);

/** Whether a number that a sequence gave out was used already. */
export function isNumberTaken(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return false;
  return NUMBERED_TABLES.has(error.table ?? '') && error.constraint === `${error.table}_pkey`;
}

/** The SQLSTATE of a database error, if it is one. */
export function sqlState(error: unknown): string | undefined {
  const databaseError = error instanceof Unavailable ? error.cause : error;
  return databaseError instanceof pg.DatabaseError ? databaseError.code : undefined;
}

/** The constraint that a database error names, if any. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined;
}
