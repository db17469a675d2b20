import type { Environment } from '../../../platform/settings.js';
import { isThisMachine } from '../../../platform/this-machine.js';
import { refusal } from '../../operator.js';
import { quoted, requireAtMost, requireUnique } from '../../rules.js';

const MAX_ORIGINS = 20;

/** Returns the origins as browsers spell them, for a header. Refuses paths, spaces, semicolons and asterisks. */
export function requireFrameOrigins(values: readonly string[], environment: Environment): string[] {
  requireAtMost('origins', values, MAX_ORIGINS);
  const origins = values.map((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const local = environment === 'sandbox' && url?.protocol === 'http:' && isThisMachine(url.hostname);
    if (!url || (url.protocol !== 'https:' && !local) || !isPlain(url, value)) {
      throw refusal('origin-malformed')`an origin must look like https://shop.example, not ${quoted(value)}`;
    }
    return url.origin;
  });
  requireUnique('the origin', origins);
  return origins;
}

/** True if the URL has only scheme, host and port. A trailing slash is allowed. */
function isPlain(url: URL, value: string): boolean {
  return /^[a-z0-9.:[\]-]+$/.test(url.host) && [url.origin, `${url.origin}/`].includes(value.toLowerCase());
}
