import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import type { SignedLink } from './link.js';

/**
 * Creates the CSRF token of a form, valid for one action of one link. The same key signs links and events, but the text
 * signed for a link or an event never begins like the text signed for a form.
 */
export function createFormToken(callbackSecret: Uint8Array, link: SignedLink, action: string): string {
  return computeMac(callbackSecret, link, action).toString('base64url');
}

export function isValidFormToken(given: string, callbackSecret: Uint8Array, link: SignedLink, action: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  const expected = computeMac(callbackSecret, link, action);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Truncated to 128 bits to keep the page small. */
function computeMac(callbackSecret: Uint8Array, { sig }: SignedLink, action: string): Buffer {
  return Buffer.from(hmacSha256(callbackSecret, `redeem form\n${action}\n${sig}`).subarray(0, 16));
}
