/** What PostgreSQL calls a type, and what its values are in TypeScript. */
interface Scalars {
  readonly bigint: number;
  readonly boolean: boolean;
  readonly bytea: Buffer;
  readonly date: string;
  readonly 'double precision': number;
  readonly integer: number;
  /** As a parameter its text. */
  readonly json: unknown;
  readonly jsonb: unknown;
  readonly name: string;
  readonly oid: number;
  readonly regclass: string;
  readonly smallint: number;
  readonly text: string;
  readonly 'timestamp with time zone': Date;
  readonly '"char"': string;
}

type Scalar = keyof Scalars;
export type ValueType = Scalar | `${Scalar}[]`;

type Given<Type extends Scalar> = Type extends 'json' | 'jsonb'
  ? string
  : Type extends 'timestamp with time zone'
    ? Date | string
    : Scalars[Type];

/** What a parameter of a type may be. An array may be given as the text of one, see plainArray. */
type ValueOf<Type> = Type extends `${infer One extends Scalar}[]`
  ? readonly (Given<One> | null)[] | string
  : Type extends Scalar
    ? Given<Type>
    : never;

export type ValuesOf<Types extends readonly ValueType[]> = { readonly [Place in keyof Types]: ValueOf<Types[Place]> | null };

type TypeFor<Value> = {
  readonly [Type in Scalar]: Value extends Scalars[Type] ? Type | (Value extends readonly unknown[] ? ArrayFor<Value> : never) : never;
}[Scalar];

type ArrayFor<Value extends readonly unknown[]> = `${Exclude<TypeFor<Exclude<Value[number], null>>, `${string}[]`> & Scalar}[]`;

/** Of each field of a row the type of its column, with a question mark where it may be null. */
type ColumnTypes<Row> = {
  readonly [Field in keyof Row]-?: null extends Row[Field] ? `${TypeFor<Exclude<Row[Field], null>>}?` : TypeFor<Row[Field]>;
};

/** The columns of a statement's rows, in any order. */
export interface Columns<Row> {
  readonly types: Readonly<Record<string, string>>;
  /** Only for the compiler. */
  readonly row?: Row;
}

export const columns = <Row>(types: ColumnTypes<Row>): Columns<Row> => ({ types });

/** A statement with fixed text. The types are what a test compares with what PostgreSQL says of the statement. */
export interface Statement<Row = unknown, Types extends readonly ValueType[] = readonly ValueType[]> {
  /** One with a name is parsed and planned once for each connection: for those that every request needs. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly parameters: Types;
  readonly columns: Columns<Row>;
}

const declared: Statement[] = [];

/** All that have been declared by the modules that are loaded. */
export const declaredStatements = (): readonly Statement[] => declared;

const NO_COLUMNS: Columns<never> = { types: {} };

/** Declares a statement: on the top level of a module, so that all of them can be checked. */
export function statement<const Types extends readonly ValueType[], Row = never>(one: {
  readonly name?: string;
  readonly text: string;
  /** Of $1, $2 and so on. */
  readonly parameters: Types;
  /** Left out when it gives no rows, or rows without columns. */
  readonly columns?: Columns<Row>;
}): Statement<Row, Types> {
  const whole = { ...one, columns: one.columns ?? NO_COLUMNS };
  declared.push(whole);
  return whole;
}
