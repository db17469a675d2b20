import { type AnySchema, type Endpoint, Rejection } from '@perennial/wire';
import { encryptFields, usePlainNames } from '../../fields.js';
import type { Given, Option } from '../frame/command.js';
import { UsageError } from '../frame/io.js';
import { findMisfit } from '../shape.js';
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

function describeRules(schema: SchemaParts): string {
  const { default: byDefault } = schema;
  return joinRules(describeRange(schema), byDefault === undefined ? '' : `default ${byDefault}`);
}

function describeRange({ minimum, maximum }: SchemaParts): string {
  const isBounded = maximum !== undefined && maximum < MAX_INTEGER;
  return joinRules(minimum === undefined ? '' : `at least ${minimum}`, isBounded ? `at most ${maximum}` : '');
}

const joinRules = (...rules: readonly string[]): string => rules.filter((rule) => rule !== '').join(', ');

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

/** Throws for a field that must be there and is not, and for a number that is out of its range. */
export function requireFields(schema: AnySchema, body: Body, above: readonly string[] = []): void {
  const { properties = {}, required = [] } = schema as SchemaParts;
  for (const [name, inner] of Object.entries(properties)) {
    const plain = name.replace(/Encrypted$/, '');
    const value = body[plain] ?? body[name];
    const isFilledIn = above.length === 0 && FILLED_IN.has(name);
    const path = [...above, plain];
    const option = `--${path.map(toKebab).join('.')}`;
    if (value === undefined && required.includes(name) && !isFilledIn) throw new UsageError(`${option} is needed`);
    if (isOutOfRange(inner, value)) throw new UsageError(`${option} must be ${describeRange(inner as SchemaParts)}`);
    const isObject = (inner as SchemaParts).type === 'object' && typeof value === 'object' && value !== null;
    if (isObject) requireFields(inner, value as Body, path);
  }
}

function isOutOfRange(schema: AnySchema, value: unknown): boolean {
  const { minimum = -Infinity, maximum = Infinity } = schema as SchemaParts;
  return typeof value === 'number' && (value < minimum || value > maximum);
}

/** Throws for what the service would refuse by the endpoint's rules across fields, so that it need not be asked. */
export function requireRules(endpoint: Endpoint, body: Body): void {
  try {
    const named = encryptFields(endpoint.request, body, (text) => text);
    // As at the service, they hold for what has the right types; of the rest the service says what is wrong.
    if (findMisfit(endpoint.request, named, 'body') === undefined) endpoint.check?.(named);
  } catch (error) {
    if (error instanceof Rejection || error instanceof TypeError) throw new UsageError(usePlainNames(error.message));
    throw error;
  }
}
