import { equalBytes, fromBase64Url, hmacSha256 } from '#platform';
import { type RedeemSignParts, redeemSignText, signRedeemLink } from './signing.js';

export const REDEEM_PATH = '/redeem';

/** The length of a 32-byte MAC in base64url without padding. */
const SIG_CHARS = 43;

export interface RedeemUrlParts extends RedeemSignParts {
  /** The scheme and the host, such as https://pay.example, without a trailing slash. */
  readonly host: string;
}

export function redeemUrl(parts: RedeemUrlParts, callbackSecret: Uint8Array): string {
  const query = [
    `orderNo=${encodeQuery(parts.orderNo)}`,
    `appId=${encodeQuery(parts.appId)}`,
    `channelUserId=${encodeQuery(parts.channelUserId)}`,
    `exp=${parts.exp}`,
    `sig=${signRedeemLink(parts, callbackSecret)}`,
  ];
  return `${parts.host}${REDEEM_PATH}?${query.join('&')}`;
}

/** Returns true if `sig` is the signature of these values. The caller must check that `exp` has not passed. */
export function verifyRedeemLink(parts: RedeemSignParts, sig: string, callbackSecret: Uint8Array): boolean {
  if (sig.length !== SIG_CHARS) return false;
  const given = fromBase64Url(sig);
  return given !== undefined && equalBytes(given, hmacSha256(callbackSecret, redeemSignText(parts)));
}

/** Encodes a query value. Also encodes `!'()*`, because chat and mail programs may end a link at such characters. */
export function encodeQuery(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
