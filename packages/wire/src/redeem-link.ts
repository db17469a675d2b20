import { equalBytes, fromBase64Url, hmacSha256 } from '#platform';
import { type RedeemSignParts, redeemSignText, signRedeemLink } from './signing.js';

export const REDEEM_PATH = '/redeem';

/** A 32-byte MAC in base64url without padding. */
const SIG_CHARS = 43;

export interface RedeemUrlParts extends RedeemSignParts {
  /** Scheme and authority, without a trailing slash. */
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

/** Returns whether `sig` matches these values. The caller checks that `exp` has not passed. */
export function verifyRedeemLink(parts: RedeemSignParts, sig: string, callbackSecret: Uint8Array): boolean {
  if (sig.length !== SIG_CHARS) return false;
  const given = fromBase64Url(sig);
  return given !== undefined && equalBytes(given, hmacSha256(callbackSecret, redeemSignText(parts)));
}

/** Also encodes brackets and quotes, because chat and mail programs cut links there. */
export function encodeQuery(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
