import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CONTENT_TYPE, HEADER_FORMS, HEADER_KEYS, HEADERS, Rejection, TIMESTAMP_SKEW_MS } from '@perennial/wire';

export type SignedRequestHeaders = Readonly<ReturnType<typeof readSignedHeaders>>;

interface Rule {
  readonly name: string;
  /** The header's name as Node spells it. */
  readonly key: string;
  readonly form: RegExp;
  readonly says: string;
}

/** The rules are ordered, so that a request with several faults always gets the same answer. */
const RULES = {
  contentType: {
    name: HEADERS.contentType,
    key: HEADER_KEYS.contentType,
    form: /^application\/json(\s*;\s*charset=("?)utf-8\2)?\s*$/i,
    says: CONTENT_TYPE,
  },
  appId: {
    name: HEADERS.appId,
    key: HEADER_KEYS.appId,
    form: /^[\x21-\x7e]{1,64}$/,
    says: '1 to 64 visible ASCII characters',
  },
  timestamp: {
    name: HEADERS.timestamp,
    key: HEADER_KEYS.timestamp,
    form: HEADER_FORMS.timestamp,
    says: 'Unix milliseconds',
  },
  nonce: { name: HEADERS.nonce, key: HEADER_KEYS.nonce, form: HEADER_FORMS.nonce, says: '32 hex characters' },
  requestId: {
    name: HEADERS.requestId,
    key: HEADER_KEYS.requestId,
    // The length is checked separately, because a request id that is too long has its own code.
    form: /^[\x21-\x7e]+$/,
    says: '1 to 1,024 visible ASCII characters',
  },
  // Any visible characters pass here. A signature that is not base64 then fails the signature check (401002).
  signature: {
    name: HEADERS.signature,
    key: HEADER_KEYS.signature,
    form: /^[\x21-\x7e]{1,1024}$/,
    says: 'base64 of an HMAC-SHA256',
  },
  authorization: {
    name: HEADERS.authorization,
    key: HEADER_KEYS.authorization,
    form: /^Bearer [\x21-\x7e]{1,1024}$/i,
    says: 'Bearer and an access token',
  },
} satisfies Record<string, Rule>;

/**
 * Throws AUTH_HEADER_INVALID for the first header that is missing, repeated or malformed. Then throws PARAM_INVALID if
 * the request id is too long.
 */
export function readSignedHeaders(request: IncomingMessage, needsToken: boolean) {
  const valuesOf = readSentValues(request);
  const read = ({ name, key, form, says }: Rule): string => {
    const values = valuesOf(key);
    if (values === undefined) throw new Rejection('AUTH_HEADER_INVALID', `header ${name} is missing`);
    if (typeof values !== 'string') throw new Rejection('AUTH_HEADER_INVALID', `header ${name} is sent more than once`);
    if (!form.test(values)) throw new Rejection('AUTH_HEADER_INVALID', `header ${name} must be ${says}`);
    return values;
  };
  read(RULES.contentType);
  const headers = {
    appId: read(RULES.appId),
    timestamp: read(RULES.timestamp),
    nonce: read(RULES.nonce),
    requestId: read(RULES.requestId),
    signature: read(RULES.signature),
    token: needsToken ? read(RULES.authorization).slice('Bearer '.length) : undefined,
  };
  if (!HEADER_FORMS.requestId.test(headers.requestId)) {
    throw new Rejection('PARAM_INVALID', `header ${HEADERS.requestId} must be ${RULES.requestId.says}`);
  }
  return headers;
}

/**
 * Returns a function that finds the value or values sent under a name. Reads the raw list, because Node joins or drops
 * repeated headers.
 */
function readSentValues({ headers, rawHeaders }: IncomingMessage) {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return (key: string) => headers[key];
  const sent = new Map<string, string | string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const key = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    const before = sent.get(key);
    if (before === undefined) sent.set(key, value);
    else if (typeof before === 'string') sent.set(key, [before, value]);
    else before.push(value);
  }
  return (key: string) => sent.get(key);
}

export function checkTimestamp(timestamp: string, now: number): void {
  if (Math.abs(now - Number(timestamp)) > TIMESTAMP_SKEW_MS) throw new Rejection('TIMESTAMP_SKEWED');
}

/** Returns the caller's request id, or a new id if it is missing or unusable. */
export function requestIdOf(request: IncomingMessage | undefined): string {
  const sent = request?.headers[HEADER_KEYS.requestId];
  return typeof sent === 'string' && HEADER_FORMS.requestId.test(sent) ? sent : randomUUID();
}

/** Throws PARAM_INVALID for a malformed idempotency key, because the key is not part of authentication. */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const value = readSentValues(request)(HEADER_KEYS.idempotencyKey);
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !HEADER_FORMS.idempotencyKey.test(value)) {
    throw new Rejection(
      'PARAM_INVALID',
      `header ${HEADERS.idempotencyKey} must be one value of 1 to 128 visible ASCII characters`,
    );
  }
  return value;
}
