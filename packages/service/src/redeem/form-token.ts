import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedLink } from './link.js';

/**
 * Stands in each form of the page, and is good for one action of one link. Whoever only knows where the forms post to
 * cannot make one. The key signs links and events too: none of their texts begins as this one does.
 */
export function createFormToken(callbackSecret: Uint8Array, link: SignedLink, action: string): string {
  return computeMac(callbackSecret, link, action).toString('base64url');
}

export function isValidFormToken(given: string, callbackSecret: Uint8Array, link: SignedLink, action: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  const expected = computeMac(callbackSecret, link, action);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Half of the MAC: there is one for every button, and 128 bits are more than enough. */
function computeMac(callbackSecret: Uint8Array, { sig }: SignedLink, action: string): Buffer {
  return createHmac('sha256', callbackSecret).update(`redeem form\n${action}\n${sig}`).digest().subarray(0, 16);
}
