import type { Statement, ValuesOf, ValueType } from './statement.js';

/** What SQL functions are given: a connection in a transaction, or the pool for a statement of its own. */
export interface Queryable {
  readonly query: RunQuery;
}

export interface RunQuery {
  <Row, Types extends readonly ValueType[]>(
    statement: Statement<Row, Types>,
    ...values: Types extends readonly [] ? [] : [values: ValuesOf<Types>]
  ): Promise<Row[]>;
  /** Text that is put together while the service runs, as from the names of tables. Nothing checks what its rows are. */
  <Row>(text: UncheckedSql, values?: readonly unknown[]): Promise<Row[]>;
}

/** With a name when it is to be parsed and planned once for each connection. */
export type UncheckedSql = string | Pick<Statement, 'name' | 'text' | 'byIndex'>;

export interface Transaction extends Queryable {
  /** How long each further statement of it may take; 0 for as long as it likes. */
  setStatementLimit(statementMs: number): Promise<void>;
}

export interface Transactional extends Queryable {
  /** No network call belongs inside `work`: it would hold locks for as long as a stranger likes. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

export interface TransactionOptions {
  /** How long each of its statements may take, if not as long as any; 0 for as long as it likes. */
  readonly statementMs?: number;
  readonly readOnly?: boolean;
}

type AnyQuery = (statement: UncheckedSql, values?: readonly unknown[]) => Promise<unknown[]>;

/** What is asked of the database, whoever asks. */
export interface QueryCall {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly byIndex?: boolean | undefined;
}

/** A `query` that hands every statement on to another, within `around`. */
export function wrapQuery(to: Queryable, around: <T>(run: () => Promise<T>, asked: QueryCall) => Promise<T>): RunQuery {
  const query = to.query as AnyQuery;
  const relayed: AnyQuery = (statement, values = []) => {
    const asked = typeof statement === 'string' ? { text: statement } : statement;
    return around(() => query(statement, values), { ...asked, values });
  };
  return relayed as RunQuery;
}
