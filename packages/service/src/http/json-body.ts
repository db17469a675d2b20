import { Rejection } from '@perennial/wire';

/** The interface nests three levels; anything deeper is not meant for us and can overflow a stack later. */
const MAX_DEPTH = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Readonly<Record<string, unknown>>;

/** Strict reading of a request body: valid UTF-8, one JSON object, nothing that PostgreSQL or a prototype would choke on. */
export function readJsonObject(bytes: Buffer, contentEncoding: string | undefined): JsonObject {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new Rejection('PARAM_INVALID', 'body: Content-Encoding is not supported, send plain JSON');
  }
  boundDepth(bytes);
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Rejection('PARAM_INVALID', 'body must be a JSON object');
  }
  refuseHostile(value, 'body');
  return value as JsonObject;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Rejection('PARAM_INVALID', 'body is not JSON in UTF-8');
  }
}

/** JSON.parse takes half a million nested arrays that everything after it trips over, so depth is counted before. */
function boundDepth(bytes: Buffer): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (inString) {
      if (byte === 0x5c) index += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new Rejection('PARAM_INVALID', `body is nested more than ${MAX_DEPTH} levels deep`);
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
}

function refuseHostile(value: unknown, place: string): void {
  if (typeof value === 'string') refuseText(value, place);
  else if (Array.isArray(value))
    value.forEach((item, position) => {
      refuseHostile(item, `${place}[${position}]`);
    });
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__') throw new Rejection('PARAM_INVALID', `${place} has a field that is not allowed`);
      refuseText(key, `a field name in ${place}`);
      refuseHostile(item, place === 'body' ? key : `${place}.${key}`);
    }
  }
}

function refuseText(text: string, place: string): void {
  if (text.includes('\u0000') || !isWellFormed(text)) {
    throw new Rejection('PARAM_INVALID', `${place.slice(0, 100)} holds a character that is not allowed`);
  }
}

// In V8 since Node 20, in TypeScript's library only from es2024.
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();
