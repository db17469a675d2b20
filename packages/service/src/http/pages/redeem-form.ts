import type { FastifyRequest } from 'fastify';
import { type FormFields, readFormFields } from '../../redeem/link.js';

/** Size limit of a form, enough for the longest link and a few short values. */
export const MAX_FORM_BYTES = 16_384;

/**
 * Returns true if the browser reports a post from elsewhere than this origin. Returns false if the browser reports
 * nothing or hides the origin, as older browsers do because of our referrer policy. Then only the form's token protects
 * the user.
 */
export function isCrossSite({ headers }: FastifyRequest, ownOrigin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null' || origin === ownOrigin) return false;
  return !URL.canParse(origin) || new URL(origin).host !== headers.host;
}

export function readForm({ headers, body }: FastifyRequest): FormFields | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || !Buffer.isBuffer(body)) return undefined;
  return readFormFields(body.toString());
}
