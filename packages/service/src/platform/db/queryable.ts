import type { Statement, ValuesOf, ValueType } from './statement.js';

/** Runs statements: on the connection of a transaction, or each on any connection of the pool. */
export interface Queryable {
  readonly query: RunQuery;
}

/** Left out for a statement without parameters. */
type Values<Types extends readonly ValueType[]> = Types extends readonly [] ? [] : [values: ValuesOf<Types>];

export interface RunQuery {
  <Row, Types extends readonly ValueType[]>(statement: Statement<Row, Types>, ...values: Values<Types>): Promise<Row[]>;
  /**
   * Text that is put together while the service runs, for example from names of tables. The type of its rows is not checked.
   */
  <Row>(text: UncheckedSql, values?: readonly unknown[]): Promise<Row[]>;
}

/** Returns the first row. Undefined if there is none. */
export async function queryOne<Row, Types extends readonly ValueType[]>(
  db: Queryable,
  statement: Statement<Row, Types>,
  ...values: Values<Types>
): Promise<Row | undefined> {
  const [row] = await db.query(statement, ...values);
  return row;
}

/** Returns the first row of a statement that always has one. */
export async function requireOne<Row, Types extends readonly ValueType[]>(
  db: Queryable,
  statement: Statement<Row, Types>,
  ...values: Values<Types>
): Promise<Row> {
  const [row] = await db.query(statement, ...values);
  if (row === undefined) throw new Error(`no row came from ${statement.name ?? statement.text.trim().slice(0, 100)}`);
  return row;
}

/** With a name when it is to be parsed and planned once for each connection. */
export type UncheckedSql = string | Pick<Statement, 'name' | 'text' | 'byIndex'>;

export interface Transaction extends Queryable {
  /** How long each further statement of the transaction may take; 0: without a limit. */
  setStatementLimit(statementMs: number): Promise<void>;
}

export interface Transactional extends Queryable {
  /** No network call belongs inside `work`: locks would be held for as long as the other side takes. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface TransactionOptions {
  /** How long each of its statements may take. Undefined: as long as any other; 0: without a limit. */
  readonly statementMs?: number;
  readonly readOnly?: boolean;
}

type AnyQuery = (statement: UncheckedSql, values?: readonly unknown[]) => Promise<unknown[]>;

/** One call of `query`, with the statement taken apart. */
export interface QueryCall {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly byIndex?: boolean | undefined;
}

/** A `query` that calls `around` for every statement, which runs it on `to`. */
export function wrapQuery(to: Queryable, around: <T>(run: () => Promise<T>, asked: QueryCall) => Promise<T>): RunQuery {
  const query = to.query as AnyQuery;
  const relayed: AnyQuery = (statement, values = []) => {
    const asked = typeof statement === 'string' ? { text: statement } : statement;
    return around(() => query(statement, values), { ...asked, values });
  };
  return relayed as RunQuery;
}
