/** PostgreSQL types, and the TypeScript types of their values. */
interface Scalars {
  readonly bigint: number | string;
  readonly boolean: boolean;
  readonly bytea: Buffer;
  readonly cidr: string;
  readonly date: string;
  readonly delivery_outcome: string;
  readonly 'double precision': number;
  readonly integer: number;
  /** Text, as a parameter. */
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

/** The type of a parameter's value. An array may also be given as text (see `toArrayText`). */
export type ValueOf<Type> = Type extends Scalar
  ? Scalars[Type]
  : Type extends `${infer One extends Scalar}[]`
    ? readonly (Scalars[One] | null)[] | string
    : never;

export type ValuesOf<Types extends readonly ValueType[]> = {
  readonly [Place in keyof Types]: ValueOf<Types[Place]> | null;
};

/** The type that the driver returns for a column. JSON is `unknown`, unless `column` names its type. */
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

/** Type of a column, with a question mark if it may be null. */
export type ColumnType = ValueType | `${ValueType}?`;

/** A column whose values have a narrower type than in PostgreSQL. */
type ColumnOf<Value> = ColumnType & { readonly value: Value };

type RowFrom<Types> = {
  readonly [Field in keyof Types]: Types[Field] extends { readonly value: infer Value }
    ? Value
    : Types[Field] extends `${infer Type}?`
      ? ReadAs<Type> | null
      : ReadAs<Types[Field]>;
};

/** The columns of a statement's rows. Their order does not matter. */
export interface Columns<Row> {
  readonly types: Readonly<Record<string, string>>;
  /** Only for the compiler. */
  readonly row?: Row;
}

/** Declares the TypeScript type of a column or parameter that contains JSON, or one of a few texts. */
export function column<Value>(type: ValueType): ColumnOf<Value>;
export function column<Value>(type: `${ValueType}?`): ColumnOf<Value | null>;
export function column(type: ColumnType): ColumnType {
  return type;
}

/** Declares the columns of a row. The row's TypeScript type is derived from them. */
export const columns = <const Types extends Readonly<Record<string, ColumnType>>>(
  types: Types,
): Columns<RowFrom<Types>> => ({ types });

/** The PostgreSQL types whose values have this TypeScript type. */
type TypeFor<Value> = { readonly [Type in ValueType]: Value extends ReadAs<Type> ? Type : never }[ValueType];

/** Declares the columns of a row whose type is declared elsewhere, such as in the domain. */
export const columnsOf = <Row>(
  types: {
    readonly [Field in keyof Row]-?: null extends Row[Field]
      ? `${TypeFor<Exclude<Row[Field], null>>}?`
      : TypeFor<Row[Field]>;
  },
): Columns<Row> => ({ types });

/** Makes all columns nullable, as for the optional side of a left join. */
export const nullableColumns = <Row>({
  types,
}: Columns<Row>): Columns<{ readonly [Field in keyof Row]: Row[Field] | null }> => ({
  types: Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, type.endsWith('?') ? type : `${type}?`]),
  ),
});

/** Joins the columns of two rows. */
export const joinColumns = <One, Other>(one: Columns<One>, other: Columns<Other>): Columns<One & Other> => ({
  types: { ...one.types, ...other.types },
});

/** A statement with fixed text. A test compares its declared types with the types in PostgreSQL. */
export interface Statement<Row = unknown, Types extends readonly ValueType[] = readonly ValueType[]> {
  /** The name of a prepared statement, which is parsed once per connection. Statements that run often have a name. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly parameters: Types;
  readonly columns: Columns<Row>;
  /**
   * True: the statement is planned without sequential scans. This is the default for named statements, because they may
   * keep their plan: a plan made while a table was small would scan the whole table until the next analyze. False:
   * PostgreSQL plans freely, for statements that read many rows. Undefined, for most other statements: PostgreSQL plans
   * each execution, with the setting of the last statement on the connection. Either setting is right for such a
   * statement, because it finds few rows by their keys.
   */
  readonly byIndex?: boolean | undefined;
  /** Statements that create the temporary tables which this statement needs. */
  readonly after?: readonly string[] | undefined;
}

/** Row type of a statement, of columns, or of a declared function. */
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

/** Declares a statement. Modules call this function at their top level, so that a test can check all statements. */
export function statement<const Types extends readonly ValueType[], Row = never>(one: {
  readonly name?: string;
  readonly text: string;
  /** Types of $1, $2 and so on. */
  readonly parameters: Types;
  /** The columns of the rows. Omitted if the rows are not read, or only counted. */
  readonly columns?: Columns<Row>;
  readonly byIndex?: boolean;
  readonly after?: readonly string[];
}): Statement<Row, Types> {
  const byIndex = one.byIndex ?? (one.name === undefined ? undefined : true);
  const whole = { ...one, byIndex, columns: one.columns ?? NO_COLUMNS };
  declared.push(whole);
  return whole;
}
