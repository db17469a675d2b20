import type { Environment } from '../../../platform/settings.js';
import { requireLength } from '../../rules.js';
import { requireHttpsUrl } from './peer-url.js';

const MAX_SELLER_URL = 500;

/** Checks a URL of the seller's site, which users open. */
export function requireSellerUrl(
  what: string,
  text: string,
  environment: Environment,
  maxLength = MAX_SELLER_URL,
): string {
  // Limits the normalized URL, because it is stored and may be longer than the typed text.
  const href = requireHttpsUrl(what, text.trim(), environment);
  requireLength(what, href.length, maxLength);
  return href;
}
