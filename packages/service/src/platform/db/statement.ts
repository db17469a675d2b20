/** What PostgreSQL calls a type, and what its values are in TypeScript. */
interface Scalars {
  readonly bigint: number | string;
  readonly boolean: boolean;
  readonly bytea: Buffer;
  readonly cidr: string;
  readonly date: string;
  readonly delivery_outcome: string;
  readonly 'double precision': number;
  readonly integer: number;
  /** As a parameter it is the text. */
  readonly json: string;
  readonly jsonb: string;
  readonly numeric: number | string;
  readonly smallint: number;
  readonly text: string;
  readonly tid: string;
  readonly 'timestamp with time zone': Date | string;
  readonly uuid: string;
  readonly xid: string;
}

type Scalar = keyof Scalars;
export type ValueType = Scalar | `${Scalar}[]`;

/** What a parameter of a type may be. An array may be given as the text of one, see toArrayText. */
type ValueOf<Type> = Type extends Scalar
  ? Scalars[Type]
  : Type extends `${infer One extends Scalar}[]`
    ? readonly (Scalars[One] | null)[] | string
    : never;

export type ValuesOf<Types extends readonly ValueType[]> = {
  readonly [Place in keyof Types]: ValueOf<Types[Place]> | null;
};

/** Types of columns that the driver reads as a value of this kind. */
type TypeFor<Value> = Value extends number
  ? 'bigint' | 'double precision' | 'integer' | 'smallint'
  : Value extends string
    ? 'cidr' | 'delivery_outcome' | 'numeric' | 'text' | 'tid' | 'uuid'
    : Value extends boolean
      ? 'boolean'
      : Value extends Buffer
        ? 'bytea'
        : Value extends Date
          ? 'timestamp with time zone'
          : 'json' | 'jsonb' | `${Scalar}[]`;

/** The type of the column for each field of a row, with a question mark if it may be null. */
type ColumnTypes<Row> = {
  readonly [Field in keyof Row]-?: unknown extends Row[Field]
    ? ValueType | `${ValueType}?`
    : null extends Row[Field]
      ? `${TypeFor<Exclude<Row[Field], null>>}?`
      : TypeFor<Row[Field]>;
};

/** The columns of a statement's rows, in any order. */
export interface Columns<Row> {
  readonly types: Readonly<Record<string, string>>;
  /** Only for the compiler. */
  readonly row?: Row;
}

export const columns = <Row>(types: ColumnTypes<Row>): Columns<Row> => ({ types });

/** The columns of a row that may be missing, as the other side of a left join. */
export const nullableColumns = <Row>({
  types,
}: Columns<Row>): Columns<{ readonly [Field in keyof Row]: Row[Field] | null }> => ({
  types: Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, type.endsWith('?') ? type : `${type}?`]),
  ),
});

/** The columns of a row that has the fields of two. */
export const joinColumns = <One, Other>(one: Columns<One>, other: Columns<Other>): Columns<One & Other> => ({
  types: { ...one.types, ...other.types },
});

/** A statement with fixed text. The types are what a test compares with what PostgreSQL says of the statement. */
export interface Statement<Row = unknown, Types extends readonly ValueType[] = readonly ValueType[]> {
  /** A statement with a name is parsed and planned once for each connection: for statements that every request needs. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly parameters: Types;
  readonly columns: Columns<Row>;
  /**
   * True: planned without reading whole tables. Those with a name are, since they keep their plan: one made while a table was
   * a page long would read it whole until it is next analyzed. False: planned as PostgreSQL likes, for those that read much.
   * Undefined, for most: planned each time it runs, for a few rows that are found by their keys in either case.
   */
  readonly byIndex?: boolean | undefined;
  /** Statements that make the temporary tables which it needs. */
  readonly after?: readonly string[] | undefined;
}

export type RowOf<One> = One extends Statement<infer Row> ? Row : never;

const declared: Statement[] = [];

/** All statements that the loaded modules have declared. */
export const declaredStatements = (): readonly Statement[] => declared;

const NO_COLUMNS: Columns<never> = { types: {} };

/** Declares a statement: on the top level of a module, so that all of them can be checked. */
export function statement<const Types extends readonly ValueType[], Row = never>(one: {
  readonly name?: string;
  readonly text: string;
  /** Of $1, $2 and so on. */
  readonly parameters: Types;
  /** Left out when the rows are not read, or only counted. */
  readonly columns?: Columns<Row>;
  readonly byIndex?: boolean;
  readonly after?: readonly string[];
}): Statement<Row, Types> {
  const byIndex = one.byIndex ?? (one.name === undefined ? undefined : true);
  const whole = { ...one, byIndex, columns: one.columns ?? NO_COLUMNS };
  declared.push(whole);
  return whole;
}
