import type { AnySchema, Endpoint } from '@perennial/wire';
import type { Given, Option } from '../frame/command.js';
import { UsageError } from '../frame/io.js';
import { textOfField } from './field-texts.js';

/** A field of a request, as an option of the command line. */
export interface FieldOption {
  readonly option: Option;
  /** Where its value goes in the body. */
  readonly path: readonly string[];
}

interface SchemaParts {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly required?: readonly string[];
  readonly items?: AnySchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

/** What the database can count to is no bound that anybody meets. */
const MAX_INTEGER = 2 ** 31 - 1;

/** The SDK fills these in. */
const FILLED_IN = new Set(['grantType', 'appId']);

/** Every field of the endpoint under its plain name; those of an object within it behind a dot. */
export const fieldsOf = ({ name, request }: Endpoint): FieldOption[] => fieldsIn(name, request, [], true);

function fieldsIn(endpoint: string, schema: AnySchema, above: readonly string[], isNeededHere: boolean): FieldOption[] {
  const { properties = {}, required = [] } = schema as SchemaParts;
  return Object.entries(properties).flatMap(([name, inner]) => {
    if (above.length === 0 && FILLED_IN.has(name)) return [];
    const path = [...above, name.replace(/Encrypted$/, '')];
    const isNeeded = required.includes(name);
    if ((inner as SchemaParts).type === 'object') return fieldsIn(endpoint, inner, path, isNeededHere && isNeeded);
    return [{ path, option: toOption(path, textOfField(endpoint, path), inner, isNeededHere && isNeeded) }];
  });
}

function toOption(path: readonly string[], text: string, schema: AnySchema, isNeeded: boolean): Option {
  const { type, items } = schema as SchemaParts;
  const { enum: oneOf } = (type === 'array' ? items : schema) as SchemaParts;
  const kinds: Readonly<Record<string, Option['kind']>> = { integer: 'integer', boolean: 'flag', array: 'list' };
  return {
    name: path.map(toKebab).join('.'),
    kind: kinds[type ?? ''] ?? 'text',
    about: [text, describeRules(schema as SchemaParts)].filter((part) => part !== '').join('; '),
    ...(isNeeded ? { isNeeded } : {}),
    ...(oneOf === undefined ? {} : { oneOf }),
  };
}

function describeRules({ minimum, maximum, default: byDefault }: SchemaParts): string {
  const isBounded = maximum !== undefined && maximum < MAX_INTEGER;
  const range = [minimum === undefined ? '' : `at least ${minimum}`, isBounded ? `at most ${maximum}` : ''];
  return [...range, byDefault === undefined ? '' : `default ${byDefault}`].filter((part) => part !== '').join(', ');
}

const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Body = Record<string, unknown>;

/** The body, with what is given on the command line in it. */
export function fillBody(fields: readonly FieldOption[], given: Given, body: Body): Body {
  const filled = structuredClone(body);
  for (const { option, path } of fields) {
    const value = given[option.name];
    if (value !== undefined) setAt(filled, path, value);
  }
  return filled;
}

function setAt(body: Body, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = body[name];
  const within = typeof inner === 'object' && inner !== null ? (inner as Body) : {};
  body[name] = within;
  setAt(within, rest, value);
}

/** Throws for a field that must be there and is not. */
export function requireFields(schema: AnySchema, body: Body, above: readonly string[] = []): void {
  const { properties = {}, required = [] } = schema as SchemaParts;
  for (const [name, inner] of Object.entries(properties)) {
    const plain = name.replace(/Encrypted$/, '');
    const value = body[plain] ?? body[name];
    const isFilledIn = above.length === 0 && FILLED_IN.has(name);
    const path = [...above, plain];
    if (value === undefined && required.includes(name) && !isFilledIn) {
      throw new UsageError(`--${path.map(toKebab).join('.')} is needed`);
    }
    const isObject = (inner as SchemaParts).type === 'object' && typeof value === 'object' && value !== null;
    if (isObject) requireFields(inner, value as Body, path);
  }
}
