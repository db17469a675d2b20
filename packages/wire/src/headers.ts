export const HEADERS = {
  contentType: 'Content-Type',
  authorization: 'Authorization',
  appId: 'X-SVC-App-Id',
  timestamp: 'X-SVC-Timestamp',
  nonce: 'X-SVC-Nonce',
  requestId: 'X-SVC-Request-Id',
  signature: 'X-SVC-Signature',
  eventId: 'X-SVC-Event-Id',
  idempotencyKey: 'Idempotency-Key',
  idempotencyReplayed: 'Idempotency-Replayed',
  retryAfter: 'Retry-After',
  diagnosis: 'X-SVC-Diagnosis',
  warning: 'X-SVC-Warning',
  encryptedFields: 'X-SVC-Encrypted-Fields',
} as const;

type HeaderKeys = { readonly [K in keyof typeof HEADERS]: Lowercase<(typeof HEADERS)[K]> };

/** Header names in lower case, as HTTP servers report them. */
export const HEADER_KEYS = Object.fromEntries(
  Object.entries(HEADERS).map(([key, name]) => [key, name.toLowerCase()]),
) as HeaderKeys;

export const CONTENT_TYPE = 'application/json;charset=UTF-8';
export const WEBHOOK_CONTENT_TYPE = 'application/json';

/**
 * The required formats of headers. The formats of signing headers are checked before a digest or signature is computed.
 */
export const HEADER_FORMS = {
  /** Any integer of up to 19 digits: a time that is far off must be reported as skewed, not as malformed. */
  timestamp: /^-?[0-9]{1,19}$/,
  nonce: /^[0-9a-fA-F]{32}$/,
  requestId: /^[\x21-\x7e]{1,1024}$/,
  idempotencyKey: /^[\x21-\x7e]{1,128}$/,
  eventId: /^[\x21-\x7e]{1,128}$/,
} as const;
