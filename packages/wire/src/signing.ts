import { equalBytes, fromBase64, hmacSha256, hmacSha256Base64, toBase64Url } from '#platform';

/** sha256 of an empty body. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const MAC_BYTES = 32;
/** MAC_BYTES in padded base64. */
const SIGNATURE_CHARS = 44;

export interface RequestSignParts {
  /** The path as sent, without the query. */
  readonly path: string;
  /** The raw query without its question mark, or ''. */
  readonly query: string;
  /** sha256Hex of the body's bytes as sent. */
  readonly bodySha256: string;
  /** The header values below are signed exactly as they were sent. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
}

export function requestSignText(parts: RequestSignParts): string {
  return ['POST', parts.path, parts.query, parts.bodySha256, parts.timestamp, parts.nonce, parts.requestId].join('\n');
}

export function signRequest(parts: RequestSignParts, appSecret: Uint8Array): string {
  return hmacSha256Base64(appSecret, requestSignText(parts));
}

export interface WebhookSignParts {
  /** The path of the callback URL. */
  readonly path: string;
  readonly bodySha256: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly eventId: string;
}

/** Returns the text to sign for a push. Its query line is always empty, because callback URLs cannot have a query. */
export function webhookSignText(parts: WebhookSignParts): string {
  return ['POST', parts.path, '', parts.bodySha256, parts.timestamp, parts.nonce, parts.eventId].join('\n');
}

export function signWebhook(parts: WebhookSignParts, callbackSecret: Uint8Array): string {
  return hmacSha256Base64(callbackSecret, webhookSignText(parts));
}

export interface RedeemSignParts {
  readonly orderNo: string;
  readonly appId: string;
  readonly channelUserId: string;
  /** Unix seconds. */
  readonly exp: number;
}

export function redeemSignText(parts: RedeemSignParts): string {
  const exp = String(parts.exp);
  return ['GET', '/redeem', '', EMPTY_SHA256, exp, parts.appId, parts.channelUserId, parts.orderNo].join('\n');
}

export function signRedeemLink(parts: RedeemSignParts, callbackSecret: Uint8Array): string {
  return toBase64Url(hmacSha256(callbackSecret, redeemSignText(parts)));
}

/**
 * Returns true if the signature of a received request or webhook equals `expected`, which is base64 or the MAC itself.
 * Checks the format first, so that a MAC has exactly one valid spelling and long headers cost nothing.
 */
export function verifySignature(given: string, expected: string | Uint8Array): boolean {
  if (given.length !== SIGNATURE_CHARS) return false;
  const mac = typeof expected === 'string' ? fromBase64(expected) : expected;
  const bytes = fromBase64(given);
  if (mac === undefined || bytes === undefined || bytes.length !== MAC_BYTES) return false;
  return equalBytes(bytes, mac);
}
