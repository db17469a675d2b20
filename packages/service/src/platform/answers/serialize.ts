import type { AnySchema, ObjectSchema, Static } from '@perennial/wire';
import buildSerializer from 'fast-json-stringify';

/** Returns a function that writes values of the schema as JSON, with fields in the order of the schema. */
export function createSerializer<Schema extends AnySchema>(schema: Schema): (value: Static<Schema>) => string {
  return compileSerializer(schema);
}

/** The JSON of an object before and after the items of one array, for arrays that are too long for the memory. */
export interface TextAroundItems<Data> {
  before(data: Data): string;
  after(data: Data): string;
}

export function createTextAroundItems<Schema extends ObjectSchema, Field extends string & keyof Static<Schema>>(
  schema: Schema,
  field: Field,
): TextAroundItems<Omit<Static<Schema>, Field>> {
  const names = Object.keys(schema.properties);
  const at = names.indexOf(field);
  const first = names.slice(0, at);
  const last = names.slice(at + 1);
  const before = compileSerializer(pickFields(schema, first));
  const after = compileSerializer(pickFields(schema, last));
  // `before` and `after` each render a whole object. The brace next to the array is cut off.
  return {
    before: first.length === 0 ? () => `{"${field}":[` : (data) => `${before(data).slice(0, -1)},"${field}":[`,
    after: last.length === 0 ? () => ']}' : (data) => `],${after(data).slice(1)}`,
  };
}

function pickFields({ properties, required }: ObjectSchema, names: readonly string[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    required: names.filter((name) => required?.includes(name)),
  };
}

type JsonSchema = Parameters<typeof buildSerializer>[0];

function compileSerializer(schema: object): (value: unknown) => string {
  return buildSerializer(markUnescaped(schema) as JsonSchema);
}

/**
 * Marks values that need no escaping: digits, times and enum values in capitals. The search for special characters took
 * 40 % of the time to render a period.
 */
function markUnescaped(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(markUnescaped);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { pattern, enum: words } = schema as { readonly pattern?: string; readonly enum?: readonly unknown[] };
  const isPlain = words ? words.every(isPlainWord) : pattern !== undefined && DIGITS_ONLY.test(pattern);
  if (isPlain) return { ...schema, format: 'unsafe' };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, markUnescaped(value)]));
}

/** Matches a schema's pattern if it allows only digits and the separators of a time. */
const DIGITS_ONLY = /^\^(\[[01]-9\]|\{[\d,]+\}|[*+ :-])+\$$/;
const isPlainWord = (word: unknown) => word === null || (typeof word === 'string' && /^[A-Z0-9_]+$/.test(word));
