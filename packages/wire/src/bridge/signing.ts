import { hmacSha256, hmacSha256Base64, randomBytes, sha256Hex, toHex } from '#platform';
import { HEADER_FORMS } from '../headers.js';
import { TIMESTAMP_SKEW_MS } from '../limits.js';
import { signRequest, verifySignature } from '../signing.js';

/** Header names in lower case, as Node reports them. */
export const BRIDGE_HEADERS = {
  timestamp: 'x-bridge-timestamp',
  nonce: 'x-bridge-nonce',
  requestId: 'x-bridge-request-id',
  signature: 'x-bridge-signature',
  idempotencyKey: 'idempotency-key',
} as const;

const REQUEST_ID_FORM = /^[\x21-\x7e]{1,128}$/;

export type SignedHeaders = Readonly<Record<string, string>>;

export interface Signable {
  /** The path as sent. It has no query string, because this protocol uses none. */
  readonly path: string;
  readonly body: Uint8Array;
  readonly now: number;
  readonly requestId: string;
}

/** Returns the signing headers, with a fresh nonce, for a request of the service or the bridge. */
export function signedHeaders({ path, body, now, requestId }: Signable, key: Uint8Array): SignedHeaders {
  const timestamp = String(now);
  const nonce = toHex(randomBytes(16));
  const signature = signRequest({ path, query: '', bodySha256: sha256Hex(body), timestamp, nonce, requestId }, key);
  return {
    [BRIDGE_HEADERS.timestamp]: timestamp,
    [BRIDGE_HEADERS.nonce]: nonce,
    [BRIDGE_HEADERS.requestId]: requestId,
    [BRIDGE_HEADERS.signature]: signature,
  };
}

export interface ReceivedRequest {
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly now: number;
}
export type SignatureCheck =
  | { readonly trusted: true; readonly nonce: string; readonly requestId: string }
  | { readonly trusted: false; readonly why: string };

/** Checks the format of the headers, then the timestamp, then the signature (in constant time). */
export function checkSignature({ path, query, headers, body, now }: ReceivedRequest, key: Uint8Array): SignatureCheck {
  const timestamp = headers[BRIDGE_HEADERS.timestamp];
  const nonce = headers[BRIDGE_HEADERS.nonce];
  const requestId = headers[BRIDGE_HEADERS.requestId];
  const signature = headers[BRIDGE_HEADERS.signature];
  if (typeof timestamp !== 'string' || !HEADER_FORMS.timestamp.test(timestamp)) return refuseHeader('timestamp');
  if (typeof nonce !== 'string' || !HEADER_FORMS.nonce.test(nonce)) return refuseHeader('nonce');
  if (typeof requestId !== 'string' || !REQUEST_ID_FORM.test(requestId)) return refuseHeader('request-id');
  if (typeof signature !== 'string') return refuseHeader('signature');
  if (Math.abs(now - Number(timestamp)) > TIMESTAMP_SKEW_MS) {
    return { trusted: false, why: 'the timestamp is more than 5 minutes off' };
  }
  const expected = signRequest({ path, query, bodySha256: sha256Hex(body), timestamp, nonce, requestId }, key);
  if (!verifySignature(signature, expected)) return { trusted: false, why: 'the signature does not match' };
  return { trusted: true, nonce, requestId };
}

function refuseHeader(header: string): SignatureCheck {
  return { trusted: false, why: `header X-Bridge-${header} is missing or malformed` };
}

/**
 * Returns the four lines to sign: RESPONSE, the request's path, the request's nonce, and the body's sha256. The nonce
 * binds the response to its request. The HTTP status is not signed, because every body that matters states its own
 * result.
 */
export function responseSignText(path: string, nonce: string, body: Uint8Array): string {
  return ['RESPONSE', path, nonce, sha256Hex(body)].join('\n');
}

export function signResponse(path: string, nonce: string, body: Uint8Array, key: Uint8Array): string {
  return hmacSha256Base64(key, responseSignText(path, nonce, body));
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
