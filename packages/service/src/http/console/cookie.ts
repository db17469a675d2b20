import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_HOURS } from '../../console/sessions/sessions-sql.js';

/** The console's cookies. `signOn` is Lax, because the identity provider's site redirects here. */
const COOKIES = {
  session: { name: 'perennial', seconds: SESSION_HOURS * 3600, sameSite: 'Strict' },
  device: { name: 'perennial-device', seconds: 180 * 86_400, sameSite: 'Strict' },
  signOn: { name: 'perennial-sign-on', seconds: 600, sameSite: 'Lax' },
} as const;
type Cookie = keyof typeof COOKIES;

/**
 * The __Host- prefix makes browsers enforce Secure, Path=/ and this host. Without HTTPS, as in trials on one machine,
 * browsers would refuse a cookie with this prefix.
 */
const cookieName = (cookie: Cookie, isSecure: boolean) => `${isSecure ? '__Host-' : ''}${COOKIES[cookie].name}`;

/** Returns the value, or undefined if there is no such cookie, or if there are two with the same name. */
export function readCookie({ headers }: FastifyRequest, cookie: Cookie, isSecure: boolean): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const found = pairs.filter(([name]) => name === cookieName(cookie, isSecure));
  return found.length === 1 ? found[0]?.slice(1).join('=') : undefined;
}

/** Sets a cookie, or deletes it if the value is empty. */
export function setCookie(reply: FastifyReply, cookie: Cookie, value: string, isSecure: boolean): void {
  const { seconds, sameSite } = COOKIES[cookie];
  const place = [`${cookieName(cookie, isSecure)}=${value}`, 'Path=/', `Max-Age=${value === '' ? 0 : seconds}`];
  const rules = ['HttpOnly', `SameSite=${sameSite}`, ...(isSecure ? ['Secure'] : [])];
  void reply.header('set-cookie', [...place, ...rules].join('; '));
}
