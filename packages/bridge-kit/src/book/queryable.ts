export type Row = Readonly<Record<string, unknown>>;

/** The database or a transaction. */
export interface Queryable {
  query<Found extends Row>(text: string, values?: readonly unknown[]): Promise<readonly Found[]>;
}
