import pg from 'pg';

/** The database cannot be reached, is out of room or did not say whether it committed: try again later. */
export class Unavailable extends Error {}

export class DatabaseUnresponsive extends Unavailable {
  override message = 'database unavailable: it does not answer';
}

/** The database answers, but nothing can be written: it is a standby, or was set to read-only. */
export class DatabaseReadOnly extends Unavailable {
  override message = 'database unavailable: it is read-only: a standby, or default_transaction_read_only is on';
}

/**
 * A lock could not be taken in time, or a statement took longer than it may. Nothing was changed, the database is there and
 * the connection is good: the same statement may well succeed later.
 */
export class HeldUp extends Unavailable {}

/**
 * The statements that the connection has prepared are not those of the database any more. The statement was not begun: on a
 * new connection it will be.
 */
export class OutdatedConnection extends Unavailable {}

/**
 * A sequence gave out a number that is used already: it was behind, as after a restore. When this is thrown the sequence has
 * been moved on, and nothing else was changed: the same work, done again, gets another number.
 */
export class NumberTaken extends HeldUp {}

/** The database itself is away: no statement can succeed, not only this one. */
export function isDatabaseAway(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !(error instanceof HeldUp);
}

/** A lock or a statement took longer than it may: repeated at once, it would only take as long again. */
export function isTimeout(error: unknown): error is HeldUp {
  return error instanceof HeldUp && ['55P03', '57014'].includes(sqlState(error) ?? '');
}

/** Which kind of Unavailable a failed statement means. Any other SQLSTATE is an error in the code or in the data. */
export type FailureMeaning = 'away' | 'held up' | 'outdated';

export interface DatabaseFailure {
  /** A SQLSTATE, or the first characters that several have in common. */
  readonly state: string;
  readonly meaning: FailureMeaning;
  /** For people: shown by commands and in the log. */
  readonly why: string;
  /**
   * The function of the server that raised it, where the state alone could mean something else. Not the message, which may be
   * translated.
   */
  readonly routine?: string;
}

/** The one table of errors of PostgreSQL, or of a pooler in front of it, that are no error of this service. */
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
 * Under synchronous replication a cancelled wait answers a commit with this warning: the commit is done here, and perhaps on no
 * replica. A resend finds it done; the statement that admits the resend commits too, and so waits for the replicas for both.
 */
export const isUnconfirmedCommit = ({ code, routine }: Pick<pg.DatabaseError, 'code' | 'routine'>): boolean =>
  code === '01000' && routine === 'SyncRepWaitForLSN';

/** Tables whose primary key comes from a sequence alone. */
const NUMBERED_TABLES = new Set(['orders', 'agreements', 'channels', 'audit_log', 'reconciliation_differences']);

/** Whether a number that a sequence gave out was used already. */
export function isNumberTaken(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return false;
  return NUMBERED_TABLES.has(error.table ?? '') && error.constraint === `${error.table}_pkey`;
}

export function sqlState(error: unknown): string | undefined {
  const databaseError = error instanceof Unavailable ? error.cause : error;
  return databaseError instanceof pg.DatabaseError ? databaseError.code : undefined;
}

export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined;
}
