import type { IncomingMessage } from 'node:http';
import { CONTENT_TYPE, HEADER_FORMS, HEADERS, Rejection, TIMESTAMP_SKEW_MS } from '@perennial/wire';

export interface SignedHeaders {
  readonly appId: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly requestId: string;
  readonly signature: string;
  readonly token: string | undefined;
}

interface Rule {
  readonly name: string;
  readonly form: RegExp;
  readonly says: string;
}

/** In this order, so that a request with several faults always gets the same answer. */
const RULES = {
  contentType: {
    name: HEADERS.contentType,
    form: /^application\/json(\s*;\s*charset=("?)utf-8\2)?\s*$/i,
    says: CONTENT_TYPE,
  },
  appId: { name: HEADERS.appId, form: /^[\x21-\x7e]{1,64}$/, says: '1 to 64 visible ASCII characters' },
  timestamp: { name: HEADERS.timestamp, form: HEADER_FORMS.timestamp, says: 'Unix milliseconds' },
  nonce: { name: HEADERS.nonce, form: HEADER_FORMS.nonce, says: '32 hex characters' },
  requestId: { name: HEADERS.requestId, form: HEADER_FORMS.requestId, says: '1 to 128 visible ASCII characters' },
  // What the characters mean is the signature check's business: 401002.
  signature: { name: HEADERS.signature, form: /^[\x21-\x7e]{1,1024}$/, says: 'base64 of an HMAC-SHA256' },
  authorization: {
    name: HEADERS.authorization,
    form: /^Bearer [\x21-\x7e]{1,1024}$/i,
    says: 'Bearer and an access token',
  },
} satisfies Record<string, Rule>;

/** Throws AUTH_HEADER_INVALID for the first header that is missing, doubled or malformed. */
export function readSignedHeaders(request: IncomingMessage, needsToken: boolean): SignedHeaders {
  const given = valuesByName(request.rawHeaders);
  const read = ({ name, form, says }: Rule): string => {
    const values = given.get(name.toLowerCase()) ?? [];
    const [value] = values;
    if (value === undefined) throw new Rejection('AUTH_HEADER_INVALID', `header ${name} is missing`);
    if (values.length > 1) throw new Rejection('AUTH_HEADER_INVALID', `header ${name} is sent more than once`);
    if (!form.test(value)) throw new Rejection('AUTH_HEADER_INVALID', `header ${name} must be ${says}`);
    return value;
  };
  read(RULES.contentType);
  return {
    appId: read(RULES.appId),
    timestamp: read(RULES.timestamp),
    nonce: read(RULES.nonce),
    requestId: read(RULES.requestId),
    signature: read(RULES.signature),
    token: needsToken ? read(RULES.authorization).slice('Bearer '.length) : undefined,
  };
}

/** Node folds repeated headers together or drops them; only the raw list still shows that one was doubled. */
function valuesByName(rawHeaders: readonly string[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    const sofar = values.get(name);
    if (sofar) sofar.push(value);
    else values.set(name, [value]);
  }
  return values;
}

export function checkTimestamp(timestamp: string, now: number): void {
  if (Math.abs(now - Number(timestamp)) > TIMESTAMP_SKEW_MS) throw new Rejection('TIMESTAMP_SKEWED');
}

/** The caller's own id for the envelope, if it sent a usable one. */
export function usableRequestId(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' && HEADER_FORMS.requestId.test(value) ? value : undefined;
}

/** Optional, so not part of authentication: a malformed one is a parameter error. */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const values = valuesByName(request.rawHeaders).get(HEADERS.idempotencyKey.toLowerCase());
  if (!values) return undefined;
  const [value = ''] = values;
  if (values.length > 1 || !HEADER_FORMS.idempotencyKey.test(value)) {
    throw new Rejection(
      'PARAM_INVALID',
      `header ${HEADERS.idempotencyKey} must be one value of 1 to 128 visible ASCII characters`,
    );
  }
  return value;
}
