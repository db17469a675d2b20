import type { Queryable } from './queryable.js';
import { type Columns, type ColumnType, statement, type ValueOf, type ValueType } from './statement.js';

/** The type of a parameter's value. If the type ends with a question mark, the value may be null or omitted. */
type Given<Type> = Type extends { readonly value: infer Value }
  ? Value
  : Type extends `${infer Plain}?`
    ? ValueOf<Plain> | null | undefined
    : ValueOf<Type>;

/** Types of $1, $2 and so on: by position, or by name if the values are given as an object. */
type Parameters = readonly ColumnType[] | Readonly<Record<string, ColumnType>>;

type GivenInOrder<Types> = Types extends readonly [...infer First, infer Last extends `${string}?`]
  ? readonly [...GivenInOrder<First>, Given<Last>?]
  : { readonly [Place in keyof Types]: Given<Types[Place]> };

type GivenFor<Types> = Types extends readonly unknown[]
  ? Extract<GivenInOrder<Types>, readonly unknown[]>
  : readonly [
      values: {
        readonly [Name in keyof Types as Types[Name] extends `${string}?` ? never : Name]: Given<Types[Name]>;
      } & {
        readonly [Name in keyof Types as Types[Name] extends `${string}?` ? Name : never]?: Given<Types[Name]>;
      },
    ];

interface Declaration<Types extends Parameters, Row, Value> {
  readonly name?: string;
  readonly text: string;
  readonly parameters: Types;
  /** The columns of the rows. Omitted if the rows are not read, or only counted. */
  readonly columns?: Columns<Row>;
  readonly byIndex?: boolean;
  /** Statements that create what this statement needs, such as a temporary table. */
  readonly after?: readonly string[];
  /** Maps a row to the result. Default: the row. */
  readonly value?: (row: Row) => Value;
}

export type Query<Values extends readonly unknown[], Result> = (db: Queryable, ...values: Values) => Promise<Result>;

type Ask<Types extends Parameters, Result> = Query<GivenFor<Types>, Result>;

function declare<Types extends Parameters, Row, Value, Result>(
  { value, ...one }: Declaration<Types, Row, Value>,
  toResult: (values: Value[], text: string) => Result,
): Ask<Types, Result> {
  const names = Array.isArray(one.parameters) ? undefined : Object.keys(one.parameters);
  const types = Object.values<string>(one.parameters).map((type) => type.replace('?', '') as ValueType);
  const declared = statement({ ...one, parameters: types });
  const toValues = (given: readonly unknown[]): readonly unknown[] => {
    if (names) return names.map((name) => (given[0] as Readonly<Record<string, unknown>>)[name]);
    return given.length === types.length ? given : types.map((_, place) => given[place]);
  };
  return async (db, ...given) => {
    const rows = await db.query<Row>(declared, toValues(given));
    return toResult(value ? rows.map(value) : (rows as unknown[] as Value[]), declared.text);
  };
}

/** Declares a statement whose rows are not read. */
export const declareWrite = <const Types extends Parameters>(one: Declaration<Types, never, never>): Ask<Types, void> =>
  declare(one, () => undefined);

/** Declares a statement that returns all rows. */
export const declareList = <const Types extends Parameters, Row, Value = Row>(
  one: Declaration<Types, Row, Value>,
): Ask<Types, Value[]> => declare(one, (values) => values);

/** Declares a statement that returns its first row, or undefined if it has none. */
export const declareFind = <const Types extends Parameters, Row, Value = Row>(
  one: Declaration<Types, Row, Value>,
): Ask<Types, Value | undefined> => declare(one, ([first]) => first);

/** Declares a statement that returns its first row, and throws if it has none. */
export const declareRequire = <const Types extends Parameters, Row, Value = Row>(
  one: Declaration<Types, Row, Value>,
): Ask<Types, Value> =>
  declare(one, ([first], text) => {
    if (first === undefined) throw new Error(`no row came from ${one.name ?? text.trim().slice(0, 100)}`);
    return first;
  });

/** Declares a statement whose result is true if it returns at least one row, for example a row that it has changed. */
export const declareHas = <const Types extends Parameters>(
  one: Declaration<Types, never, never>,
): Ask<Types, boolean> => declare(one, (values) => values.length > 0);
