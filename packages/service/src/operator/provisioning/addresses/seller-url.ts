import type { Environment } from '../../../platform/settings.js';
import { requireLength } from '../../rules.js';
import { requireHttpsUrl } from './peer-url.js';

const MAX_SELLER_URL = 500;

/** Checks a URL of the seller that users open. */
export function requireSellerUrl(
  what: string,
  text: string,
  environment: Environment,
  maxLength = MAX_SELLER_URL,
): string {
  // Limits the stored form, which may be longer than the typed one.
  const href = requireHttpsUrl(what, text.trim(), environment);
  requireLength(what, href.length, maxLength);
  return href;
}
