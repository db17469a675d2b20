/** What SQL functions are given: a connection in a transaction, or the pool for a statement of its own. */
export interface Queryable {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A named statement is parsed and planned once per connection: for the hot ones. */
export type Statement = string | { readonly name: string; readonly text: string };

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
