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
  <Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Transaction extends Queryable {
  /** How long each further statement of it may take; 0 for as long as it likes. */
  allow(statementMs: number): Promise<void>;
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
