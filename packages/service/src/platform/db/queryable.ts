import type { Statement, ValuesOf, ValueType } from './statement.js';

/** Runs statements: all on the connection of a transaction, or each on any connection of the pool. */
export interface Queryable {
  readonly query: RunQuery;
  /** Set in transactions of a database that can sign (`Database.signWith`). */
  readonly sign?: Sign | undefined;
}

/** Computes a MAC under a key of the installation. The database contains this key only wrapped under the master key. */
export type Sign = (text: string) => Promise<Buffer>;

/** The values are omitted if the statement has no parameters. */
type Values<Types extends readonly ValueType[]> = Types extends readonly [] ? [] : [values: ValuesOf<Types>];

export interface RunQuery {
  <Row, Types extends readonly ValueType[]>(statement: Statement<Row, Types>, ...values: Values<Types>): Promise<Row[]>;
  /** Runs text composed at run time, for example from table names. The type of its rows is not checked. */
  <Row>(text: UncheckedSql, values?: readonly unknown[]): Promise<Row[]>;
}

export async function queryOne<Row, Types extends readonly ValueType[]>(
  db: Queryable,
  statement: Statement<Row, Types>,
  ...values: Values<Types>
): Promise<Row | undefined> {
  const [row] = await db.query(statement, ...values);
  return row;
}

/** Returns the first row. Throws if there is none. */
export async function requireOne<Row, Types extends readonly ValueType[]>(
  db: Queryable,
  statement: Statement<Row, Types>,
  ...values: Values<Types>
): Promise<Row> {
  const [row] = await db.query(statement, ...values);
  if (row === undefined) throw new Error(`no row came from ${statement.name ?? statement.text.trim().slice(0, 100)}`);
  return row;
}

/** SQL whose row type is not checked. With a `name`, it is parsed once per connection, and its plan may be reused. */
export type UncheckedSql = string | Pick<Statement, 'name' | 'text' | 'byIndex'>;

export interface Transaction extends Queryable {
  /** Sets the time limit of each following statement in the transaction. 0: no limit. */
  setStatementLimit(statementMs: number): Promise<void>;
}

export interface Transactional extends Queryable {
  /** Runs `work` in a transaction. `work` must not make network calls, because row locks are held until it ends. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Reads the key for audit entries, if it was not read before. Ignores a failure: an entry reports it. */
  prepareSigning?(): Promise<unknown>;
}

export interface TransactionOptions {
  /** Time limit of each statement in this transaction. Default: the database's own. 0: no limit. */
  readonly statementMs?: number;
  readonly readOnly?: boolean;
}

type AnyQuery = (statement: UncheckedSql, values?: readonly unknown[]) => Promise<unknown[]>;

export interface QueryCall {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly byIndex?: boolean | undefined;
}

/** Returns a `query` that passes every statement to `around`. `around` calls `run` to run the statement on `to`. */
export function wrapQuery(to: Queryable, around: <T>(run: () => Promise<T>, asked: QueryCall) => Promise<T>): RunQuery {
  const query = to.query as AnyQuery;
  const relayed: AnyQuery = (statement, values = []) => {
    const asked = typeof statement === 'string' ? { text: statement } : statement;
    return around(() => query(statement, values), { ...asked, values });
  };
  return relayed as RunQuery;
}
