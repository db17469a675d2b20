import type { Environment } from '../../../platform/settings.js';
import { requireLength } from '../../rules.js';
import { requireHttpsUrl } from './peer-url.js';

const MAX_SELLER_URL = 500;

/** An address of the seller that users are led to. */
export function requireSellerUrl(
  what: string,
  text: string,
  environment: Environment,
  maxLength = MAX_SELLER_URL,
): string {
  // As it is stored, which may be longer than what was typed.
  const href = requireHttpsUrl(what, text.trim(), environment);
  requireLength(what, href.length, maxLength);
  return href;
}
