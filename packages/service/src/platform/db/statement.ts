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
export type ValueOf<Type> = Type extends Scalar
  ? Scalars[Type]
  : Type extends `${infer One extends Scalar}[]`
    ? readonly (Scalars[One] | null)[] | string
    : never;

export type ValuesOf<Types extends readonly ValueType[]> = {
  readonly [Place in keyof Types]: ValueOf<Types[Place]> | null;
};

/** What the driver reads from a column of a type: JSON is unknown until `column` names what it is. */
type ReadAs<Type> = Type extends 'bigint'
  ? number
  : Type extends 'numeric'
    ? string
    : Type extends 'timestamp with time zone'
      ? Date
      : Type extends 'json' | 'jsonb'
        ? unknown
        : Type extends Scalar
          ? Scalars[Type]
          : Type extends `${infer One extends Scalar}[]`
            ? readonly ReadAs<One>[]
            : never;

/** The type of a column, with a question mark if it may be null. */
export type ColumnType = ValueType | `${ValueType}?`;

/** A column whose values the compiler knows better than PostgreSQL does. */
type ColumnOf<Value> = ColumnType & { readonly value: Value };

type RowFrom<Types> = {
  readonly [Field in keyof Types]: Types[Field] extends { readonly value: infer Value }
    ? Value
    : Types[Field] extends `${infer Type}?`
      ? ReadAs<Type> | null
      : ReadAs<Types[Field]>;
};

/** The columns of a statement's rows, in any order. */
export interface Columns<Row> {
  readonly types: Readonly<Record<string, string>>;
  /** Only for the compiler. */
  readonly row?: Row;
}

/** Names the type of a column or a parameter that is JSON, or one of a few texts. */
export function column<Value>(type: ValueType): ColumnOf<Value>;
export function column<Value>(type: `${ValueType}?`): ColumnOf<Value | null>;
export function column(type: ColumnType): ColumnType {
  return type;
}

/** The columns of a row, whose type follows from them. */
export const columns = <const Types extends Readonly<Record<string, ColumnType>>>(
  types: Types,
): Columns<RowFrom<Types>> => ({ types });

/** The types that a column may have whose values these are. */
type TypeFor<Value> = { readonly [Type in ValueType]: Value extends ReadAs<Type> ? Type : never }[ValueType];

/** The columns of a row whose type is declared elsewhere, as those of the domain are. */
export const columnsOf = <Row>(
  types: {
    readonly [Field in keyof Row]-?: null extends Row[Field]
      ? `${TypeFor<Exclude<Row[Field], null>>}?`
      : TypeFor<Row[Field]>;
  },
): Columns<Row> => ({ types });

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

/** The rows of a statement, of columns, or of a statement that is a function. */
export type RowOf<One> = One extends Statement<infer Row> | Columns<infer Row>
  ? Row
  : One extends (...given: never[]) => Promise<infer Result>
    ? Result extends readonly (infer Row)[]
      ? Row
      : NonNullable<Result>
    : never;

const declared: Statement[] = [];

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
