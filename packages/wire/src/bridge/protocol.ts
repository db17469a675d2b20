import {
  HEADER_FORMS,
  hmacSha256,
  randomBytes,
  sha256Hex,
  signRequest,
  TIMESTAMP_SKEW_MS,
  toBase64,
  verifySignature,
} from '@perennial/wire';

/**
 * What both ends of a bridge agree on; docs/bridge.md is the text of it, docs/bridge.openapi.json its schemas. Nothing
 * here knows of orders, and nothing of an institution.
 */

export const OPERATIONS = [
  'bind-code',
  'bind-confirm',
  'debit',
  'debit-query',
  'refund',
  'refund-query',
  'agreement-cancel',
  'statement',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export const KEY_BYTES = 32;
/** Of every request, answer and notice but a page of a statement. */
export const MAX_MESSAGE_BYTES = 65_536;
export const MAX_STATEMENT_BYTES = 1_048_576;
/** Lines of a page: with the longest numbers and references it stays below MAX_STATEMENT_BYTES. */
export const STATEMENT_PAGE_LINES = 1000;

export const MAX_NUMBER_LENGTH = 64;
/** As long as a text may be in the service's own interface: a shared agreement number comes from there. */
export const MAX_TEXT_LENGTH = 1024;
const MAX_REASON_LENGTH = 200;
/** The end of the year 9999: beyond it a time cannot be written down. */
const MAX_TIME = 253_402_300_799_999;

/** In lower case, as Node hands them over. */
export const BRIDGE_HEADERS = {
  timestamp: 'x-bridge-timestamp',
  nonce: 'x-bridge-nonce',
  requestId: 'x-bridge-request-id',
  signature: 'x-bridge-signature',
  idempotencyKey: 'idempotency-key',
} as const;
export const CONTENT_TYPE = 'application/json;charset=UTF-8';

/** The bodies' own words. */
export const DECLINES = ['RETRYABLE', 'FINAL', 'AGREEMENT_INVALID'] as const;
export type WireDecline = (typeof DECLINES)[number];

/** What an answer about a debit says of it, and a notice too. */
export type DebitMessage =
  | {
      readonly attemptNo: string;
      readonly status: 'SUCCESS';
      readonly amountCent: number;
      readonly paidAt: number;
      readonly institutionRef: string;
    }
  | {
      readonly attemptNo: string;
      readonly status: 'DECLINED';
      readonly decline: WireDecline;
      readonly reason: string;
    }
  | { readonly attemptNo: string; readonly status: 'PENDING' | 'NOT_FOUND' };

export type RefundMessage =
  | {
      readonly refundNo: string;
      readonly status: 'SUCCESS';
      readonly amountCent: number;
      readonly refundedAt: number;
    }
  | { readonly refundNo: string; readonly status: 'REFUSED'; readonly reason: string }
  | { readonly refundNo: string; readonly status: 'PENDING' | 'NOT_FOUND' };

export interface LineMessage {
  readonly kind: 'DEBIT' | 'REFUND';
  readonly number: string;
  readonly amountCent: number;
  readonly status: 'SUCCESS' | 'FAIL' | 'PENDING';
  readonly bookedAt: number;
  readonly institutionRef: string;
}

export interface StatementMessage {
  readonly day: string;
  readonly lines: readonly LineMessage[];
  readonly nextCursor: string | null;
}

/** What goes to the service's notice endpoint. */
export type NoticeMessage =
  | ({ readonly kind: 'DEBIT'; readonly noticeNo: string } & DebitMessage)
  | {
      readonly kind: 'AGREEMENT_CANCELED';
      readonly noticeNo: string;
      readonly institutionNo: string;
      readonly reason: string;
    };

export type SignedHeaders = Readonly<Record<string, string>>;

export interface Signable {
  /** As sent, without a query: nothing in this protocol has one. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Unix milliseconds. */
  readonly now: number;
  readonly requestId: string;
}

/** The signing headers of a request in either direction, with a nonce of their own. */
export function signedHeaders({ path, body, now, requestId }: Signable, key: Uint8Array): SignedHeaders {
  const timestamp = String(now);
  const nonce = Buffer.from(randomBytes(16)).toString('hex');
  const signature = signRequest({ path, query: '', bodySha256: sha256Hex(body), timestamp, nonce, requestId }, key);
  return {
    [BRIDGE_HEADERS.timestamp]: timestamp,
    [BRIDGE_HEADERS.nonce]: nonce,
    [BRIDGE_HEADERS.requestId]: requestId,
    [BRIDGE_HEADERS.signature]: signature,
  };
}

export interface Received {
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly now: number;
}
export type Checked =
  | { readonly trusted: true; readonly nonce: string; readonly requestId: string }
  | { readonly trusted: false; readonly why: string };

/** Form first, then the time, then the signature in constant time. */
export function checkSigned({ path, query, headers, body, now }: Received, key: Uint8Array): Checked {
  const timestamp = headers[BRIDGE_HEADERS.timestamp];
  const nonce = headers[BRIDGE_HEADERS.nonce];
  const requestId = headers[BRIDGE_HEADERS.requestId];
  const signature = headers[BRIDGE_HEADERS.signature];
  if (typeof timestamp !== 'string' || !HEADER_FORMS.timestamp.test(timestamp)) return distrusted('timestamp');
  if (typeof nonce !== 'string' || !HEADER_FORMS.nonce.test(nonce)) return distrusted('nonce');
  if (typeof requestId !== 'string' || !HEADER_FORMS.requestId.test(requestId)) return distrusted('request-id');
  if (typeof signature !== 'string') return distrusted('signature');
  if (Math.abs(now - Number(timestamp)) > TIMESTAMP_SKEW_MS) {
    return { trusted: false, why: 'the timestamp is more than 5 minutes off' };
  }
  const expected = signRequest({ path, query, bodySha256: sha256Hex(body), timestamp, nonce, requestId }, key);
  if (!verifySignature(signature, expected)) return { trusted: false, why: 'the signature does not match' };
  return { trusted: true, nonce, requestId };
}

function distrusted(header: string): Checked {
  return { trusted: false, why: `header X-Bridge-${header} is missing or malformed` };
}

/**
 * Four lines: RESPONSE, the path and the nonce of the request, sha256 of the body. The nonce makes it the answer to
 * that request and to no other; the HTTP status is left out because a body that means something says it itself.
 */
export function responseSignText(path: string, nonce: string, body: Uint8Array): string {
  return ['RESPONSE', path, nonce, sha256Hex(body)].join('\n');
}

export function signResponse(path: string, nonce: string, body: Uint8Array, key: Uint8Array): string {
  return toBase64(hmacSha256(key, responseSignText(path, nonce, body)));
}

export function isSignedResponse(
  given: string | readonly string[] | undefined,
  path: string,
  nonce: string,
  body: Uint8Array,
  key: Uint8Array,
): boolean {
  return typeof given === 'string' && verifySignature(given, hmacSha256(key, responseSignText(path, nonce, body)));
}

export type Fields = Readonly<Record<string, unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** One JSON object in UTF-8, or undefined. Fields are then picked one by one, so depth and odd names do no harm. */
export function readFields(bytes: Uint8Array): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(utf8.decode(bytes)));
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Text that can be stored and sent on: not empty, no NUL, no half surrogate pairs. */
export function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value === '' || value.includes('\u0000') || !isWellFormed(value)) return undefined;
  // Code points, as the service's own interface counts them.
  return value.length <= maxLength || [...value].length <= maxLength ? value : undefined;
}

/** attemptNo, refundNo, institutionRef: visible ASCII, so that they can stand in a header. */
export function numberOf(value: unknown): string | undefined {
  return typeof value === 'string' && NUMBER_FORM.test(value) ? value : undefined;
}
const NUMBER_FORM = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NUMBER_LENGTH}}$`);

/** Cents, or a count from 1. */
export function positiveOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

/** Unix milliseconds. */
export function timeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_TIME ? Number(value) : undefined;
}

/** For people and logs alone. An institution may quote a card in it, so long numbers go; so does what is not text. */
export function reasonOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  const text = isWellFormed(value) ? value : '';
  return text
    .slice(0, 1000)
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\d(?:[ -]?\d){8,}/g, '…')
    .slice(0, MAX_REASON_LENGTH)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
}

// In V8 since Node 20, in TypeScript's library only from es2024.
const isWellFormed = (text: string): boolean => (text as string & { isWellFormed(): boolean }).isWellFormed();
