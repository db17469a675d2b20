import type { AnySchema, Endpoint } from '@perennial/wire';
import { Option, type OptionValues } from 'commander';
import { plainName } from '../../fields.js';
import { integerOption, listOption } from '../frame/command.js';
import { textOfField } from './field-texts.js';

interface SchemaParts {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly required?: readonly string[];
  readonly items?: SchemaParts;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

/** A request field as a command-line option. */
export interface FieldOption {
  readonly option: Option;
  /** Where the value is put in the body. */
  readonly path: readonly string[];
  readonly schema: SchemaParts;
}

/** The database's largest integer. The help does not mention it as a limit. */
const MAX_INTEGER = 2 ** 31 - 1;

/** Fields that the SDK fills in, so they are no options. */
const FILLED_IN = new Set(['grantType', 'appId']);

/** Lists the fields that are options, by plain name. A nested field has its parent's name and a dot before it. */
export const fieldsOf = ({ name, request }: Endpoint): FieldOption[] => fieldsIn(name, request, [], true);

function fieldsIn(endpoint: string, schema: AnySchema, above: readonly string[], isNeededHere: boolean): FieldOption[] {
  const { properties = {}, required = [] } = schema as SchemaParts;
  return Object.entries(properties).flatMap(([name, inner]) => {
    if (above.length === 0 && FILLED_IN.has(name)) return [];
    const path = [...above, plainName(name)];
    const isNeeded = isNeededHere && required.includes(name);
    const parts = inner as SchemaParts;
    if (parts.type === 'object') return fieldsIn(endpoint, inner, path, isNeeded);
    const about = [isNeeded ? 'needed' : '', textOfField(endpoint, path), ...describeRules(parts)];
    return [{ path, schema: parts, option: toOption(path, about.filter((part) => part !== '').join('; '), parts) }];
  });
}

function toOption(path: readonly string[], about: string, { type, enum: oneOf, items }: SchemaParts): Option {
  const flag = `--${path.join('.').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (type === 'boolean') return new Option(flag, about);
  if (type === 'integer') return integerOption(`${flag} <number>`, about);
  if (type === 'array') return listOption(`${flag} <text,...>`, about, items?.enum);
  const option = new Option(`${flag} <text>`, about);
  return oneOf ? option.choices(oneOf) : option;
}

function describeRules({ minimum, maximum, default: byDefault }: SchemaParts): string[] {
  return [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined || maximum >= MAX_INTEGER ? [] : [`at most ${maximum}`]),
    ...(byDefault === undefined ? [] : [`default ${byDefault}`]),
  ];
}

type Body = Record<string, unknown>;

/** Returns the body with the values given on the command line. */
export function fillBody(fields: readonly FieldOption[], given: OptionValues, body: Body): Body {
  const filled = structuredClone(body);
  for (const { path } of fields) {
    const value: unknown = given[path.join('.')];
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
