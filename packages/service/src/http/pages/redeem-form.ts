import type { FastifyRequest } from 'fastify';
import { type FormFields, readFormFields } from '../../redeem/link.js';

/** A form of the page: the longest link and a few short values. */
export const MAX_FORM_BYTES = 16_384;

/**
 * Whether a browser says that the page that posts is not ours. One that says nothing, or hides where it comes from (as the
 * page's own policy makes older ones do), is judged by the token alone.
 */
export function isCrossSite({ headers }: FastifyRequest, ownOrigin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null' || origin === ownOrigin) return false;
  return !URL.canParse(origin) || new URL(origin).host !== headers.host;
}

/** What a form says, or nothing for what is no form. */
export function readForm({ headers, body }: FastifyRequest): FormFields | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || !Buffer.isBuffer(body)) return undefined;
  return readFormFields(body.toString());
}
