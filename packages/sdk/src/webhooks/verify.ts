import {
  HEADER_FORMS,
  HEADERS,
  sha256Hex,
  signWebhook,
  TIMESTAMP_SKEW_MS,
  verifySignature,
  type WebhookEvent as WireEvent,
} from '@perennial/wire';
import { readClock, systemNow } from '../clock.js';
import { DecryptionError, decrypterOf } from '../encryption.js';
import { decryptFields, type Fields, isObject, type Plain } from '../fields.js';
import { parseJson, TooDeepError } from '../json.js';
import { readSecret } from '../secrets.js';
import { WebhookVerificationError } from './errors.js';

/** An event as the service sends it. */
export type EncryptedWebhookEvent = WireEvent;
/** An event with its fields decrypted: `data.mobile` in place of `data.mobileEncrypted`. */
export type WebhookEvent = Plain<WireEvent>;

/** Headers of fetch, of Node, or a plain object; upper and lower case do not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** What comes of an aesKey that is given, of none, and of one that may be undefined. */
export type EventFor<AesKey extends string | undefined> = AesKey extends string ? WebhookEvent : EncryptedWebhookEvent;

export interface WebhookKeys<AesKey extends string | undefined = string | undefined> {
  /** In base64. Several while a reset is under way: the event is good when one of them fits. */
  readonly callbackSecret: string | readonly string[];
  /** In base64. With it, what is encrypted in an event is decrypted. */
  readonly aesKey?: AesKey;
  /** How far the time of sending may be from now. Default 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** Unix milliseconds, in place of the machine's clock. */
  readonly now?: (() => number) | undefined;
}

export interface VerifyWebhookOptions<AesKey extends string | undefined = string | undefined>
  extends WebhookKeys<AesKey> {
  /** The path of the callback address as the service has it. */
  readonly path: string;
  readonly headers: WebhookHeaders;
  /** The body as it came: never what was parsed and written again. */
  readonly rawBody: Uint8Array | ArrayBuffer | string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Gives the event, or throws a WebhookVerificationError that says by its `reason` what is wrong. */
export function verifyWebhook<AesKey extends string | undefined = undefined>(
  options: VerifyWebhookOptions<AesKey>,
): EventFor<AesKey> {
  const { secrets, aesKey } = readKeys(options);
  const path = readPath(options.path);
  const bytes = readBytes(options.rawBody);
  const signed = readHeaders(options.headers);

  const parts = { path, bodySha256: sha256Hex(bytes), ...signed };
  // Every secret is tried, so that how long it takes does not tell which one fits.
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

/** Throws a TypeError for keys that cannot be right. */
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

/** Throws a TypeError for a path that cannot be right. */
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
    // Servers join what came twice by a comma.
    signature: read(HEADERS.signature, /^[^,]+$/),
  };
}

type FindHeader = (name: string) => unknown;

/** In place of a value when there are several: which of them was signed cannot be known. */
const TWICE = Symbol('more than one value');

const finderOf = (headers: object): FindHeader => {
  const { get } = headers as { get(name: string): string | null };
  // A Map is looked up as it is written, and Node has names in lower case.
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
    // The rest is said below, without the text.
  }
  throw new WebhookVerificationError('not-json', 'the body is no JSON object');
}

/** No more than this: types and fields that come later are handed on. */
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
