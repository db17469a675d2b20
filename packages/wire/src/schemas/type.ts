/** Functions for the subset of JSON Schema that the interface needs, with TypeScript types. They return JSON Schema. */

declare const VALUE: unique symbol;
/** Marks the schema of an optional field. */
const OPTIONAL = Symbol('optional');

export interface Schema<Value> {
  /** For the compiler only. */
  readonly [VALUE]?: Value;
}
export type AnySchema = Schema<unknown>;

export interface ArraySchema<Item extends AnySchema> extends Schema<Static<Item>[]> {
  readonly type: 'array';
  readonly items: Item;
}

export interface ObjectSchema<Fields extends AnyFields = AnyFields> extends Schema<ValuesOf<Fields>> {
  readonly type: 'object';
  readonly properties: Fields;
  /** Undefined if no field is required; never an empty list. */
  readonly required?: readonly string[];
}

export type AnyFields = Readonly<Record<string, AnySchema>>;
export interface Optional {
  readonly [OPTIONAL]: true;
}

/** The type that a schema describes. */
export type Static<Described extends AnySchema> = Described extends Schema<infer Value> ? Value : never;

type OptionalNames<Fields> = { [Name in keyof Fields]: Fields[Name] extends Optional ? Name : never }[keyof Fields];
type Flattened<Value> = { [Name in keyof Value]: Value[Name] };
type ValuesOf<Fields extends AnyFields> = Flattened<
  { [Name in Exclude<keyof Fields, OptionalNames<Fields>>]: Static<Fields[Name]> } & {
    [Name in OptionalNames<Fields>]?: Static<Fields[Name]>;
  }
>;

interface StringRules {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly default?: string;
}

interface IntegerRules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export const Type = {
  String: (rules: StringRules = {}): Schema<string> => asSchema({ type: 'string', ...rules }),
  Integer: (rules: IntegerRules = {}): Schema<number> => asSchema({ type: 'integer', ...rules }),
  Boolean: (rules: { readonly default?: boolean } = {}): Schema<boolean> => asSchema({ type: 'boolean', ...rules }),
  Unknown: (): Schema<unknown> => asSchema({}),
  /** Allows null besides the value. */
  OrNull: <Described extends AnySchema>(schema: Described): Schema<Static<Described> | null> =>
    asSchema({ anyOf: [schema, { type: 'null' }] }),
  Array: <Item extends AnySchema>(
    items: Item,
    rules: { readonly minItems?: number; readonly maxItems?: number } = {},
  ) => asSchema<ArraySchema<Item>>({ type: 'array', items, ...rules }),
  Object: <Fields extends AnyFields>(properties: Fields) => {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
    return asSchema<ObjectSchema<Fields>>({
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties,
    });
  },
  Optional: <Described extends AnySchema>(schema: Described): Described & Optional => ({ ...schema, [OPTIONAL]: true }),
  /**
   * Returns the given JSON Schema, typed as the schema of `Value`. For schemas that the other functions cannot express.
   */
  Unsafe: <Value>(schema: object): Schema<Value> => asSchema(schema),
};

function asSchema<Described extends AnySchema>(schema: object): Described {
  return schema as Described;
}
