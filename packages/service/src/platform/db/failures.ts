import pg from 'pg';

/**
 * Thrown if the database cannot do the work now, or did not confirm a commit. A later retry may succeed. Subclasses
 * name the cause.
 */
export class Unavailable extends Error {}

export class DatabaseUnresponsive extends Unavailable {
  override message = 'database unavailable: it does not answer';
}

/** The database answers, but cannot write: it is a standby, or set to read-only. */
export class DatabaseReadOnly extends Unavailable {
  override message = 'database unavailable: it is read-only: a standby, or default_transaction_read_only is on';
}

/**
 * A lock timeout, statement timeout, deadlock or conflict, or a cancelled statement. The statement changed nothing. The
 * database and the connection work, so the statement may succeed later.
 */
export class HeldUp extends Unavailable {}

/**
 * The connection's prepared statements no longer match the database. The statement was not begun, and may run over a
 * new connection.
 */
export class OutdatedConnection extends Unavailable {}

/**
 * A sequence returned a number that a row already has, because the sequence was behind, as after a restore. Lagging
 * sequences were moved forward, and nothing else was changed. A repetition of the work gets a new number.
 */
export class NumberTaken extends HeldUp {}

/** Returns true for an Unavailable error other than HeldUp. */
export function isDatabaseAway(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !(error instanceof HeldUp);
}

/**
 * Returns true for a lock timeout, a statement timeout or a cancelled statement. An immediate retry would probably take
 * as long again.
 */
export function isTimeout(error: unknown): error is HeldUp {
  return error instanceof HeldUp && ['55P03', '57014'].includes(sqlState(error) ?? '');
}

/**
 * The meaning of a failed statement whose SQLSTATE is in DATABASE_FAILURES. Any other SQLSTATE is an error in the code
 * or the data.
 */
export type FailureMeaning = 'away' | 'held up' | 'outdated';

export interface DatabaseFailure {
  /** A SQLSTATE, or a prefix that several SQLSTATEs share. */
  readonly state: string;
  readonly meaning: FailureMeaning;
  /** Explanation for operators, shown by commands and in the log. */
  readonly why: string;
  /**
   * The server function that raised the error, if the SQLSTATE alone is ambiguous. The message cannot be used, because
   * servers translate it.
   */
  readonly routine?: string;
}

/** Errors of PostgreSQL, or of a pooler in front of it, after which the same statement may succeed later. */
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
  { state: '26000', meaning: 'outdated', why: 'a prepared statement does not exist: the session is another one' },
  { state: '28', meaning: 'away', why: 'the server no longer accepts the service’s login' },
  { state: '3D000', meaning: 'away', why: 'the database no longer exists' },
  { state: '40001', meaning: 'held up', why: 'two transactions conflict' },
  { state: '40003', meaning: 'away', why: 'the server does not know whether the statement was done' },
  { state: '40P01', meaning: 'held up', why: 'a deadlock' },
  { state: '42501', meaning: 'away', why: 'the service’s role lacks a privilege' },
  {
    state: '42P05',
    meaning: 'outdated',
    why: 'a prepared statement already exists: the session is another one',
  },
  { state: '53', meaning: 'away', why: 'out of disk, memory or connections' },
  {
    state: '55000',
    meaning: 'away',
    why: 'the database refuses connections, as after its cell was moved to another server',
    routine: 'CheckMyDatabase',
  },
  { state: '55P03', meaning: 'held up', why: 'another session holds a lock for too long' },
  {
    state: '57014',
    meaning: 'held up',
    why: 'a statement exceeded its time limit, or an operator cancelled it',
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
 * Returns true for the warning with which PostgreSQL answers a commit if its wait for the replicas was canceled. The
 * commit is then done on this server, but perhaps on no replica. If the client resends the request, admitting the
 * resend is also a commit. So the resend waits for the replicas, and then finds the work done.
 */
export const isUnconfirmedCommit = ({ code, routine }: Pick<pg.DatabaseError, 'code' | 'routine'>): boolean =>
  code === '01000' && routine === 'SyncRepWaitForLSN';

/** Tables whose primary key always comes from a sequence. */
const NUMBERED_TABLES = new Set(['orders', 'agreements', 'channels', 'audit_log', 'reconciliation_differences']);

/** Returns true if the error says that a number from a sequence is already used by a row. */
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
