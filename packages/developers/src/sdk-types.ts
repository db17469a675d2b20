import { endpoints, OrderPayload, StoredPaymentPayload, StoredUpcomingPayload, WEBHOOK_EVENTS } from '@perennial/wire';
import { type Direction, textOfField } from './model.js';
import { type JsonSchema, nameOf } from './schema.js';

/** Types that the schemas leave open, because the service checks them later. By `Schema.field`. */
const OPEN_TYPES: Readonly<Record<string, string>> = { 'OrdersCreateRequest.channelAgreementRef': 'string' };

/** Whether fields have their plain names, as the SDK's methods do, or the names of the API. */
type Naming = 'plain' | 'wire';

/** Returns the module `shapes.d.ts` of the SDK: an interface for each schema, with the reference's text on each field. */
export function writeSdkTypes(): string {
  const interfaces = new Map<string, string>();

  function typeOf(schema: JsonSchema, direction: Direction, naming: Naming, name?: string): string {
    const { type, items, properties } = schema;
    if (schema.enum) return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
    if (items) return `Array<${typeOf(items, direction, naming)}>`;
    if (properties) return declare(schema, direction, naming, name ?? nameOf(schema) ?? 'Unnamed');
    const types = typeof type === 'string' ? [type] : (type ?? ['unknown']);
    return types.map((one) => (one === 'integer' ? 'number' : one)).join(' | ');
  }

  function declare(schema: JsonSchema, direction: Direction, naming: Naming, name: string): string {
    const own = naming === 'wire' ? `Encrypted${name}` : name;
    if (interfaces.has(own)) return own;
    interfaces.set(own, '');
    const fields = Object.entries(schema.properties ?? {}).map(([field, inner]) => {
      const text = plainText(textOfField(schema, field, direction));
      const mark = schema.required?.includes(field) ? '' : '?';
      const plain = naming === 'plain' ? plainName(field) : field;
      const key = /^\w+$/.test(plain) ? plain : `'${plain}'`;
      return `    /** ${text} */\n    ${key}${mark}: ${OPEN_TYPES[`${name}.${field}`] ?? typeOf(inner, direction, naming)};`;
    });
    interfaces.set(own, `export interface ${own} {\n${fields.join('\n')}\n}`);
    return own;
  }

  const requests = endpoints.map(({ name, request }) => [name, typeOf(request as JsonSchema, 'request', 'plain')]);
  const answers = endpoints.map(({ name, response }) => [name, typeOf(response as JsonSchema, 'answer', 'plain')]);
  const events = (naming: Naming) =>
    Object.values(WEBHOOK_EVENTS).map((schema) => typeOf(schema as JsonSchema, 'answer', naming));
  const unions = { EventShapes: events('plain').join(' | '), EncryptedEventShapes: events('wire').join(' | ') };
  for (const stored of [OrderPayload, StoredPaymentPayload, StoredUpcomingPayload]) {
    typeOf(stored as JsonSchema, 'answer', 'plain');
  }
  return [
    ...interfaces.values(),
    writeTable('RequestShapes', requests),
    writeTable('AnswerShapes', answers),
    ...Object.entries(unions).map(([name, types]) => `export type ${name} = ${types};`),
  ].join('\n');
}

const writeTable = (name: string, rows: readonly (readonly string[])[]): string =>
  `export interface ${name} {\n${rows.map(([key, type]) => `    '${key}': ${type};`).join('\n')}\n}`;

const plainName = (name: string): string => name.replace(/(.)Encrypted$/, '$1');

/** Adapts a text to the SDK, which encrypts and decrypts by itself. */
const plainText = (text: string): string =>
  text
    .replace(/, encrypted\b/g, '')
    .replace(/\b([a-z]\w*)Encrypted\b/g, '$1')
    .replaceAll('*/', '*\\/');
