import type { AnySchema } from '@perennial/wire';
import { type FieldReader, readText } from '../../subscriptions/domain/agreements/plaintext.js';
import type { JsonObject } from './json-body.js';

interface EncryptedField {
  /** The field's path in the body, for messages. */
  readonly place: string;
  readonly ciphertext: string;
}

/** The schemas of an object's fields, or of an array's items. */
interface InnerSchemas {
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly items?: AnySchema;
}

/** A body in one canonical spelling, without the values of its encrypted fields. */
export interface CanonicalBody {
  readonly text: string;
  readonly encrypted: readonly EncryptedField[];
}

/**
 * Writes a body in its canonical spelling: names sorted, no white space, numbers in one notation. Leaves out fields of
 * the schema that are null, because null counts as absent. Unknown fields are part of the text.
 */
export function writeCanonical(schema: AnySchema, raw: Buffer, body: JsonObject): CanonicalBody {
  const encrypted: EncryptedField[] = [];
  const json = raw.toString();
  const text = write(MAYBE_NUMBERS.test(json) ? parseExactNumbers(json) : body, schema, '');
  return { text, encrypted };

  function write(value: unknown, schema: AnySchema | undefined, place: string): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const { properties = {}, items } = (schema ?? {}) as InnerSchemas;
    if (Array.isArray(value)) return `[${value.map((item) => write(item, items, place))}]`;
    let text = '{';
    for (const name of Object.keys(value).sort()) {
      const inner = (value as JsonObject)[name];
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (known && inner === null) continue;
      text += `${JSON.stringify(name)}:`;
      if (known && name.endsWith('Encrypted') && typeof inner === 'string') {
        encrypted.push({ place: `${place}${name}`, ciphertext: inner });
        text += '*,';
      } else text += `${write(inner, known, `${place}${name}.`)},`;
    }
    return `${text}}`;
  }
}

/**
 * Returns a hash that two bodies share only if they mean the same: equal values, and encrypted fields with equal texts.
 * Throws like `readText`.
 */
export function hashMeaning(reader: FieldReader, { text, encrypted }: CanonicalBody): Buffer {
  const texts = encrypted.map(({ place, ciphertext }) => readText(reader, ciphertext, place));
  return reader.channel.sealing.hash(`${JSON.stringify(texts)}\n${text}`, 'request');
}

/** Matches the text of every body with a number, and some texts of bodies without numbers. */
const MAYBE_NUMBERS = /[:[,]\s*-?[0-9]/;
/** The closing quote is optional, so that a search cannot fail at the end of a string and begin again. */
const STRINGS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?[0-9][0-9.eE+-]*/g;

/**
 * Parses JSON with a string in place of each number, because JSON.parse rounds numbers: 2^53 and 2^53 + 1 would be
 * equal. Each of these strings begins with NUL, which the strings of a body cannot contain.
 */
function parseExactNumbers(json: string): unknown {
  return JSON.parse(
    json.replace(STRINGS_AND_NUMBERS, (token) =>
      token.startsWith('"') ? token : `"\\u0000${toCanonicalNumber(token)}"`,
    ),
  );
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE](.+))?$/;
/** An exponent beyond this limit is left as it is spelled, because arithmetic with it could round. */
const MAX_EXPONENT = 1e15;

/** Returns significant digits and exponent: `150e-1`, `15` and `15.0` are `15e0`. */
function toCanonicalNumber(token: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) return token;
  let end = digits.length;
  // A regular expression would take quadratic time for digits with many zeros.
  while (digits[end - 1] === '0') end -= 1;
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
