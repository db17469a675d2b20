import { CODES, type Endpoint, endpoints, type ResultCode, resultCodes, WEBHOOK_EVENTS } from '@perennial/wire';
import { CODE_TEXTS } from './content/codes.js';
import { ENDPOINT_TEXTS, type EndpointText } from './content/endpoints.js';
import { VALUE_MEANINGS } from './content/enums.js';
import { EXAMPLES } from './content/examples.js';
import { ANSWER_FIELDS, OWN_FIELDS, REQUEST_FIELDS } from './content/fields.js';
import type { Example } from './content/story/cast.js';
import { EVENT_EXAMPLES } from './content/story/events.js';
import { type JsonSchema, nameOf, propertiesOf, timePattern } from './schema.js';

export type Direction = 'request' | 'answer';

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly text: string;
  /** The values of an enum, each with its meaning. */
  readonly values: readonly (readonly [string, string])[];
  readonly fallback: string | undefined;
  readonly range: string | undefined;
  /** Fields of an object, or of the objects in an array. */
  readonly children: readonly Field[];
}

export interface Code extends ResultCode {
  readonly when: string;
  readonly advice: string;
}

export interface Described {
  readonly endpoint: Endpoint;
  readonly text: EndpointText;
  readonly request: readonly Field[];
  readonly answer: readonly Field[];
  readonly hasEncrypted: boolean;
  /** The result codes that this endpoint lists as its own, in order of precedence. */
  readonly codes: readonly Code[];
  /** The result codes that the endpoint shares with other endpoints. */
  readonly commonCodes: readonly Code[];
  readonly examples: readonly Example[];
}

/** Returns the description of a field, empty if there is none. */
export function textOfField(schema: JsonSchema, name: string, direction: Direction): string {
  const shared = direction === 'request' ? REQUEST_FIELDS : ANSWER_FIELDS;
  return OWN_FIELDS[`${nameOf(schema)}.${name}`] ?? shared[name] ?? '';
}

export function fieldsOf(schema: JsonSchema, direction: Direction): Field[] {
  return propertiesOf(schema).map(([name, field]) => {
    const single = field.items ?? field;
    return {
      name,
      type: typeOf(name, field),
      isRequired: schema.required?.includes(name) === true,
      text: textOfField(schema, name, direction),
      values: (single.enum ?? [])
        .filter((value) => value !== null)
        .map((value) => [value, VALUE_MEANINGS[name]?.[value] ?? ''] as const),
      fallback: field.default === undefined ? undefined : JSON.stringify(field.default),
      range: rangeOf(field),
      children: fieldsOf(single, direction),
    };
  });
}

function typeOf(name: string, { type, items, pattern }: JsonSchema): string {
  const types = typeof type === 'string' ? [type] : (type ?? ['any']);
  const named = types.map((one) => {
    if (one === 'array') return `array of ${items === undefined ? 'any' : typeOf(name, items)}`;
    if (one !== 'string') return one;
    if (name.endsWith('Encrypted')) return 'encrypted string';
    return pattern === timePattern ? 'time' : 'string';
  });
  return named.join(' or ');
}

function rangeOf({ minimum, maximum, minItems, maxItems }: JsonSchema): string | undefined {
  const most = maximum ?? maxItems;
  // Omits limits that no caller can reach.
  if (most === undefined || most > 1_000_000) return undefined;
  const unit = maxItems === undefined ? '' : ' entries';
  return `${minimum ?? minItems ?? 0} to ${most}${unit}`;
}

export function describeCode(code: ResultCode): Code {
  const [when, advice] = CODE_TEXTS[code.name];
  return { ...code, when, advice };
}

export const ALL_CODES: readonly Code[] = resultCodes.map(describeCode);

/** Returns the result codes of refusals that this endpoint can answer with and that no endpoint lists as its own. */
function commonCodesOf({ token, write }: Endpoint, hasEncrypted: boolean): Code[] {
  const own = new Set(endpoints.flatMap(({ codes }) => codes).map((name) => CODES[name].code));
  return ALL_CODES.filter(({ code, name }) => {
    if (own.has(code) || name === 'SUCCESS') return false;
    if (name.startsWith('TOKEN_')) return token;
    if (name.startsWith('IDEMPOTENCY_')) return write;
    return name !== 'DECRYPT_FAILED' || hasEncrypted;
  });
}

const isEncrypted = ({ name, children }: Field): boolean => name.endsWith('Encrypted') || children.some(isEncrypted);

/** Shows way B first, because it takes one call and no agreement. */
const byWay = (one: Example, other: Example): number => Number(other.name === 'b') - Number(one.name === 'b');

function describeEndpoint(endpoint: Endpoint): Described {
  const request = fieldsOf(endpoint.request as JsonSchema, 'request');
  const hasEncrypted = request.some(isEncrypted);
  return {
    endpoint,
    text: ENDPOINT_TEXTS[endpoint.name] ?? { group: 'Sandbox', title: endpoint.name, text: endpoint.summary },
    request,
    answer: fieldsOf(endpoint.response as JsonSchema, 'answer'),
    hasEncrypted,
    codes: endpoint.codes.map((name) => describeCode(CODES[name])),
    commonCodes: commonCodesOf(endpoint, hasEncrypted),
    examples: EXAMPLES.filter((example) => example.endpoint === endpoint.name).toSorted(byWay),
  };
}

export const ENDPOINTS: readonly Described[] = endpoints.map(describeEndpoint);

export const EVENTS = EVENT_EXAMPLES.map((example) => ({
  eventType: example.eventType,
  example,
  schema: WEBHOOK_EVENTS[example.eventType] as JsonSchema,
  fields: fieldsOf(WEBHOOK_EVENTS[example.eventType] as JsonSchema, 'answer'),
}));
