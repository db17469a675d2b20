import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_HOURS } from '../../console/sessions/sessions-sql.js';

/**
 * The __Host- prefix makes browsers enforce Secure, Path=/ and this host. Without HTTPS, as in trials on one machine,
 * browsers would refuse a cookie with this prefix.
 */
const SECURE_NAME = '__Host-perennial';
const PLAIN_NAME = 'perennial';

export const cookieName = (isSecure: boolean) => (isSecure ? SECURE_NAME : PLAIN_NAME);

/** Returns the session token, or undefined if there is no cookie or two with the same name. */
export function readCookie({ headers }: FastifyRequest, isSecure: boolean): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const found = pairs.filter(([name]) => name === cookieName(isSecure));
  return found.length === 1 ? found[0]?.slice(1).join('=') : undefined;
}

export function setCookie(reply: FastifyReply, token: string, isSecure: boolean): void {
  writeCookie(reply, token, SESSION_HOURS * 3600, isSecure);
}

export function clearCookie(reply: FastifyReply, isSecure: boolean): void {
  writeCookie(reply, '', 0, isSecure);
}

function writeCookie(reply: FastifyReply, value: string, maxAge: number, isSecure: boolean): void {
  const parts = [`${cookieName(isSecure)}=${value}`, 'Path=/', `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Strict'];
  void reply.header('set-cookie', [...parts, ...(isSecure ? ['Secure'] : [])].join('; '));
}
