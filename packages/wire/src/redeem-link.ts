import { equalBytes, fromBase64Url, hmacSha256 } from '#platform';
import { type RedeemSignParts, redeemSignText, signRedeemLink } from './signing.js';

export const REDEEM_PATH = '/redeem';

/** A 32-byte MAC in base64url without padding. */
const SIG_CHARS = 43;

export interface RedeemUrlParts extends RedeemSignParts {
  /** Scheme and authority, without a slash at the end. */
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

/** Whether `sig` belongs to these values; that `exp` has not passed is for the caller, who has a clock. */
export function verifyRedeemLink(parts: RedeemSignParts, sig: string, callbackSecret: Uint8Array): boolean {
  if (sig.length !== SIG_CHARS) return false;
  const given = fromBase64Url(sig);
  return given !== undefined && equalBytes(given, hmacSha256(callbackSecret, redeemSignText(parts)));
}

/** Links travel through chats and mails, which cut them at a bracket or a quote: those are encoded as well. */
export function encodeQuery(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
