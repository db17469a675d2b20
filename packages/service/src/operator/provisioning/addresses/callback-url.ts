import { isIP } from 'node:net';
import { isPublicAddress } from '../../../catalog/channels/public-address.js';
import { isThisMachine } from '../../../platform/this-machine.js';

/** The maximum length of a callback URL. */
const MAX_CHARACTERS = 1024;

const PRIVATE_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

export interface CallbackUrlRules {
  /** Allows http and https to this machine. */
  readonly local: boolean;
}

/** Returns the URL to store, or a one-line reason why it is refused. */
export function checkCallbackUrl(text: string, { local }: CallbackUrlRules): { url: string } | { refusal: string } {
  if (text.length > MAX_CHARACTERS) return { refusal: `it has more than ${MAX_CHARACTERS} characters` };
  // Refuses white space and control characters, because the URL parser would drop them silently.
  if (/[\s\p{Cc}]/u.test(text)) return { refusal: 'it contains white space or control characters' };
  if (!URL.canParse(text)) return { refusal: 'it is not a complete address such as https://example.com/callback' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { refusal: 'it contains a user name or password' };
  if (text.includes('#')) return { refusal: 'it contains a fragment (#)' };
  // Refuses a query, because the signature of a webhook covers only the path.
  if (text.includes('?')) return { refusal: 'it contains a query (?)' };
  // The URL parser has already converted numeric hosts such as 0x7f.1 to dotted form, so a numeric host cannot hide its
  // address.
  const host = url.hostname.replace(/\.$/, '');
  if (host.split('.').includes('')) return { refusal: 'its host is not a name' };
  if (url.port === '0') return { refusal: 'there is no port 0' };
  const here = local && isThisMachine(host);
  if (url.protocol !== 'https:' && !(here && url.protocol === 'http:'))
    return { refusal: 'it must start with https://' };
  if (here) return { url: url.href };
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0 ? !isPublicAddress(address) : PRIVATE_NAME.test(address)) {
    return { refusal: 'its host is not an address on the public internet' };
  }
  return { url: url.href };
}
