import type { Queryable } from './queryable.js';
import { statement, type ValuesOf, type ValueType } from './statement.js';

/** A statement as a function. Its values are $1, $2 and so on; undefined stands for null. */
export type Query<Values extends readonly unknown[], Result> = (db: Queryable, ...values: Values) => Promise<Result>;

type Declaration<Types extends readonly ValueType[], Row> = Parameters<typeof statement<Types, Row>>[0];
type Given<Types extends readonly ValueType[]> = {
  readonly [Place in keyof Types]: ValuesOf<Types>[Place] | undefined;
};

/** Each of these declares a statement, so it stands on the top level of a module. */
export function allRows<const Types extends readonly ValueType[], Row = never>(one: Declaration<Types, Row>) {
  const declared = statement(one);
  return (db: Queryable, ...values: Given<Types>): Promise<Row[]> =>
    db.query<Row>(
      declared,
      one.parameters.map((_, place) => values[place] ?? null),
    );
}

export function firstRow<const Types extends readonly ValueType[], Row = never>(one: Declaration<Types, Row>) {
  const query = allRows(one);
  return async (db: Queryable, ...values: Given<Types>): Promise<Row | undefined> => (await query(db, ...values))[0];
}

/** Of a statement that always has a row. */
export function oneRow<const Types extends readonly ValueType[], Row = never>(one: Declaration<Types, Row>) {
  const query = firstRow(one);
  return async (db: Queryable, ...values: Given<Types>): Promise<Row> => {
    const row = await query(db, ...values);
    if (row === undefined) throw new Error(`no row came from ${one.name ?? one.text.trim().slice(0, 100)}`);
    return row;
  };
}

export function noRows<const Types extends readonly ValueType[]>(one: Declaration<Types, never>) {
  const query = allRows(one);
  return async (db: Queryable, ...values: Given<Types>): Promise<void> => {
    await query(db, ...values);
  };
}

/** Whether there was a row. */
export function anyRow<const Types extends readonly ValueType[], Row = never>(one: Declaration<Types, Row>) {
  const query = allRows(one);
  return async (db: Queryable, ...values: Given<Types>): Promise<boolean> => (await query(db, ...values)).length > 0;
}
