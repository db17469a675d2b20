import type { AnySchema } from '@perennial/wire';
import { isObject, plainName } from '../fields.js';

interface SchemaParts {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly AnySchema[];
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly required?: readonly string[];
  readonly items?: AnySchema;
}

/**
 * Where a value is not of the types that its schema says, such as `data.items.0.period is missing`; undefined when it is. Names are
 * the plain ones. Other rules are not looked at: what is new in a list of words does no harm.
 */
export function findMisfit(schema: AnySchema, value: unknown, place: string): string | undefined {
  if (value === undefined) return `${place} is missing`;
  const { type = [], anyOf, items } = schema as SchemaParts;
  if (anyOf !== undefined) {
    const isOne = anyOf.some((one) => findMisfit(one, value, place) === undefined);
    return isOne ? undefined : `${place} has not the form it must have`;
  }
  const types = [type].flat();
  if (types.length > 0 && !types.some((one) => isOfType(value, one))) {
    return `${place} must be of type ${types.join(' or ')}`;
  }
  if (Array.isArray(value)) return items && findFirst(value.map((item, index) => [items, item, `${place}.${index}`]));
  return isObject(value) ? findFirst(listFields(schema, value, place)) : undefined;
}

type Part = readonly [schema: AnySchema, value: unknown, place: string];

function findFirst(parts: readonly Part[]): string | undefined {
  for (const part of parts) {
    const misfit = findMisfit(...part);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}

function listFields(schema: AnySchema, value: Readonly<Record<string, unknown>>, place: string): Part[] {
  const { properties = {}, required = [] } = schema as SchemaParts;
  return Object.entries(properties).flatMap(([name, inner]): Part[] => {
    const plain = plainName(name);
    const given = value[plain] === undefined ? value[name] : value[plain];
    return given === undefined && !required.includes(name) ? [] : [[inner, given, `${place}.${plain}`]];
  });
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value) && !Array.isArray(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}
