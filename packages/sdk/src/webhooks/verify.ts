import { HEADER_FORMS, HEADERS, sha256Hex, signWebhook, TIMESTAMP_SKEW_MS, verifySignature } from '@perennial/wire';
import { readClock, systemNow } from '../clock.js';
import { DecryptionError, decrypterOf } from '../encryption.js';
import { decryptFields, type Fields, isObject } from '../fields.js';
import { parseJson, TooDeepError } from '../json.js';
import { readSecret } from '../secrets.js';
import type { EncryptedEventShapes, EventShapes } from '../shapes.js';
import { WebhookVerificationError } from './errors.js';

export type EncryptedWebhookEvent = EncryptedEventShapes;
/** An event with its fields decrypted: `data.mobile` in place of `data.mobileEncrypted`. */
export type WebhookEvent = EventShapes;

/** The headers: a Headers object of fetch, Node's headers, or a plain object. Names may be in upper or lower case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** The type of the event: with plain fields if an aesKey is given, otherwise with encrypted fields. */
export type EventFor<AesKey extends string | undefined> = AesKey extends string ? WebhookEvent : EncryptedWebhookEvent;

export interface WebhookKeys<AesKey extends string | undefined = string | undefined> {
  /** The callback secret in base64. During a reset give both secrets: an event is authentic if one of them matches. */
  readonly callbackSecret: string | readonly string[];
  /** The key in base64. If it is given, encrypted fields are decrypted. */
  readonly aesKey?: AesKey;
  /** The largest allowed difference between the push's timestamp and now. Default 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** Replaces the machine's clock. Returns Unix milliseconds. */
  readonly now?: (() => number) | undefined;
}

export interface VerifyWebhookOptions<AesKey extends string | undefined = string | undefined>
  extends WebhookKeys<AesKey> {
  /** The path of the callback URL, as it is configured at the service. */
  readonly path: string;
  readonly headers: WebhookHeaders;
  /** The body as received. Do not parse it and serialise it again. */
  readonly rawBody: Uint8Array | ArrayBuffer | string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the event, or throws a WebhookVerificationError whose `reason` names the fault. Throws a TypeError if an
 * option is wrong.
 */
export function verifyWebhook<AesKey extends string | undefined = undefined>(
  options: VerifyWebhookOptions<AesKey>,
): EventFor<AesKey> {
  const { secrets, aesKey } = readKeys(options);
  const path = readPath(options.path);
  const bytes = readBytes(options.rawBody);
  const signed = readHeaders(options.headers);

  const parts = { path, bodySha256: sha256Hex(bytes), ...signed };
  // Compares with every secret, so that the time taken does not reveal which one matches.
  const fitting = secrets.filter((secret) => verifySignature(signed.signature, signWebhook(parts, secret)));
  if (fitting.length === 0) throw mismatch(path);
  checkTime(signed.timestamp, options);

  const event = parseEvent(bytes);
  if (event['eventId'] !== signed.eventId) {
    throw new WebhookVerificationError('event-id-mismatch', `${HEADERS.eventId} is not the eventId of the body`);
  }
  requireEvent(event);
  return (aesKey === undefined ? event : decryptEvent(event, aesKey)) as EventFor<AesKey>;
}

/** Reads the keys. Throws a TypeError if a key or the tolerance is invalid. */
export function readKeys(keys: WebhookKeys) {
  if (!isObject(keys)) throw new TypeError('options must be an object');
  const { callbackSecret, aesKey, toleranceMs = 0 } = keys;
  if (!(typeof toleranceMs === 'number' && toleranceMs >= 0)) throw new TypeError('toleranceMs must be 0 or more');
  const given: readonly unknown[] = Array.isArray(callbackSecret) ? callbackSecret : [callbackSecret];
  if (given.length === 0) throw new TypeError('callbackSecret is missing');
  return {
    secrets: given.map((secret) => readSecret('callbackSecret', secret)),
    aesKey: aesKey === undefined ? undefined : readSecret('aesKey', aesKey),
  };
}

/** Returns the path. Throws a TypeError if it is invalid. */
export function readPath(path: string): string {
  if (typeof path === 'string' && path.startsWith('/') && !/[?#]/.test(path)) return path;
  throw new TypeError('path must be the path of the callback address, such as /events: no host, no query');
}

function readBytes(body: unknown): Uint8Array {
  if (body === undefined || body === null) {
    throw new WebhookVerificationError('missing-body', 'rawBody is missing: it must be the bytes that came');
  }
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new WebhookVerificationError(
    'body-was-parsed',
    'rawBody must be the bytes that came: the signature is over them, and JSON that was parsed cannot be written the same again',
  );
}

function readHeaders(headers: unknown) {
  if (!isObject(headers)) {
    throw new WebhookVerificationError('missing-header', 'headers are missing: give those of the request, all of them');
  }
  const find = typeof headers['get'] === 'function' ? finderOf(headers) : finderIn(headers);
  const read = (name: string, form: RegExp): string => {
    const value = find(name);
    if (value === undefined || value === null || value === '') {
      throw new WebhookVerificationError('missing-header', `${name} is missing`);
    }
    if (value === TWICE) throw new WebhookVerificationError('malformed-header', `${name} came more than once`);
    if (typeof value === 'string' && form.test(value)) return value;
    throw new WebhookVerificationError('malformed-header', `${name} is malformed`);
  };
  return {
    timestamp: read(HEADERS.timestamp, HEADER_FORMS.timestamp),
    nonce: read(HEADERS.nonce, HEADER_FORMS.nonce),
    eventId: read(HEADERS.eventId, HEADER_FORMS.eventId),
    // Refuses a comma, because servers join repeated headers with commas.
    signature: read(HEADERS.signature, /^[^,]+$/),
  };
}

type FindHeader = (name: string) => unknown;

/** Stands for the value of a header that was sent several times: it is unknown which value was signed. */
const TWICE = Symbol('more than one value');

const finderOf = (headers: object): FindHeader => {
  const { get } = headers as { get(name: string): string | null };
  // Also looks for the lower-case name: a Map is case-sensitive, and Node's header names are in lower case.
  return (name) => get.call(headers, name) ?? get.call(headers, name.toLowerCase());
};

function finderIn(headers: object): FindHeader {
  const found = new Map<string, unknown>();
  for (const [name, given] of Object.entries(headers)) {
    const key = name.toLowerCase();
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value !== undefined) found.set(key, found.has(key) ? TWICE : value);
    }
  }
  return (name) => found.get(name.toLowerCase());
}

const mismatch = (path: string) =>
  new WebhookVerificationError(
    'signature-mismatch',
    `the signature does not match: is callbackSecret the one of this channel and environment, is ${path} the path of the callback address, and are these the bytes that came?`,
  );

function checkTime(timestamp: string, { now = systemNow, toleranceMs = TIMESTAMP_SKEW_MS }: WebhookKeys): void {
  const away = readClock(now) - Number(timestamp);
  if (Math.abs(away) <= toleranceMs) return;
  const seconds = Math.round(Math.abs(away) / 1000);
  const when = away > 0 ? `${seconds} s ago` : `${seconds} s ahead of this clock`;
  throw new WebhookVerificationError('stale-timestamp', `it was sent ${when}`);
}

function parseEvent(bytes: Uint8Array): Fields {
  try {
    const value = parseJson(decoder.decode(bytes));
    if (isObject(value) && !Array.isArray(value)) return value;
  } catch (error) {
    if (error instanceof TooDeepError) throw new WebhookVerificationError('too-deep', `the body is ${error.message}`);
    // Drops the parser's error, because it quotes the body. The error thrown below does not quote it.
  }
  throw new WebhookVerificationError('not-json', 'the body is not a JSON object');
}

/** Checks only these two fields, so that events with new types and fields are passed on. */
function requireEvent({ eventType, data }: Fields): void {
  if (typeof eventType !== 'string') throw notAnEvent('eventType must be a string');
  if (!isObject(data) || Array.isArray(data)) throw notAnEvent('data must be an object');
}

const notAnEvent = (rule: string) =>
  new WebhookVerificationError('not-an-event', `the body is signed rightly, but is no event: ${rule}`);

function decryptEvent(event: object, aesKey: Uint8Array): unknown {
  try {
    return decryptFields(event, decrypterOf(aesKey));
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw new WebhookVerificationError('cannot-decrypt', error.message);
  }
}
