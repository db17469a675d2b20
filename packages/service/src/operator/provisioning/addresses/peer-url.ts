import type { Environment } from '../../../platform/settings.js';
import { isThisMachine } from '../../../platform/this-machine.js';
import { refusal } from '../../operator.js';
import { quoted } from '../../rules.js';

/** Checks the URL of a bridge or a supplier. Private addresses are allowed, because operators choose these URLs. */
export function requirePeerUrl(what: string, text: string, environment: Environment): string {
  const href = requireHttpsUrl(what, text, environment);
  if (text.includes('#')) throw refusal('url-holds-fragment')`${what} must not contain a fragment (#)`;
  // Refuses a query, because the signature covers only the path.
  if (text.includes('?')) throw refusal('url-holds-query')`${what} must not contain a query (?)`;
  return href;
}

/** Accepts https URLs. In the sandbox, also accepts http URLs to this machine. */
export function requireHttpsUrl(what: string, text: string, environment: Environment): string {
  if (!URL.canParse(text)) throw refusal('url-incomplete')`${what} ${quoted(text)} is not a complete address`;
  const url = new URL(text);
  // The message does not repeat the URL, which may contain a password.
  if (url.username !== '' || url.password !== '') {
    throw refusal('url-holds-password')`${what} must not contain a user name or password`;
  }
  const local = environment === 'sandbox' && url.protocol === 'http:' && isThisMachine(url.hostname);
  if (url.protocol !== 'https:' && !local) {
    throw refusal('url-not-https')`${what} ${quoted(text)} must start with https://`;
  }
  return url.href;
}
