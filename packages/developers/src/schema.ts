import * as wire from '@perennial/wire';
import { CLOSED_SETS } from './content/request-rules.js';

/** The subset of JSON Schema that the API uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly JsonSchema[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

/**
 * The export names of wire's schemas. The key is a schema's `properties` object, because an optional copy of the schema
 * has the same object.
 */
const NAMES: ReadonlyMap<unknown, string> = (() => {
  const names = new Map<unknown, string>();
  for (const [name, value] of Object.entries(wire)) {
    const properties =
      typeof value === 'object' && value !== null && 'properties' in value ? value.properties : undefined;
    if (properties !== undefined) names.set(properties, name);
  }
  return names;
})();

/** Returns the export name of an object schema, or undefined if wire does not export the schema. */
export const nameOf = (schema: JsonSchema): string | undefined =>
  schema.properties === undefined ? undefined : NAMES.get(schema.properties);

/** Returns the fields of a schema, with the enums of `CLOSED_SETS`. */
export function propertiesOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const values = CLOSED_SETS[`${nameOf(schema)}.${name}`];
    return [name, values === undefined ? field : { ...field, enum: values }];
  });
}

export const timePattern = (wire.Time as JsonSchema).pattern;
