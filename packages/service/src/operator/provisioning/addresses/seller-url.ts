import type { Environment } from '../../../platform/settings.js';
import { isThisMachine } from '../../../platform/this-machine.js';
import { refusal } from '../../operator.js';
import { quoted } from '../../rules.js';

export const MAX_SELLER_URL = 500;

/** An address of the seller that users are led to. */
export function requireSellerUrl(
  what: string,
  text: string,
  environment: Environment,
  maxLength = MAX_SELLER_URL,
): string {
  const typed = text.trim();
  if (!URL.canParse(typed)) throw refusal('url-incomplete')`${what} ${quoted(typed)} is not a complete address`;
  const url = new URL(typed);
  // Not repeated in the message: it may hold a password.
  if (url.username !== '' || url.password !== '') {
    throw refusal('url-holds-password')`${what} must not hold a user name or password`;
  }
  const local = environment === 'sandbox' && url.protocol === 'http:' && isThisMachine(url.hostname);
  if (url.protocol !== 'https:' && !local) {
    throw refusal('url-not-https')`${what} ${quoted(typed)} must start with https://`;
  }
  // As it is stored, which may be longer than what was typed.
  if (url.href.length > maxLength) {
    throw refusal('text-length')`${what} must have 1 to ${maxLength} characters, not ${url.href.length}`;
  }
  return url.href;
}
