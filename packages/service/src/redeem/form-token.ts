import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@perennial/wire';
import type { SignedLink } from './link.js';

/**
 * Part of each form of the page, and valid for one action of one link. A page of another site cannot make one. The same key
 * signs links and events, but none of those texts begins like this one.
 */
export function createFormToken(callbackSecret: Uint8Array, link: SignedLink, action: string): string {
  return computeMac(callbackSecret, link, action).toString('base64url');
}

export function isValidFormToken(given: string, callbackSecret: Uint8Array, link: SignedLink, action: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  const expected = computeMac(callbackSecret, link, action);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Half of the MAC, since every button has one: 128 bits are more than enough. */
function computeMac(callbackSecret: Uint8Array, { sig }: SignedLink, action: string): Buffer {
  return Buffer.from(hmacSha256(callbackSecret, `redeem form\n${action}\n${sig}`).subarray(0, 16));
}
