/**
 * The one registry of result codes. Rows stand in order of precedence: when two of them apply to the same request,
 * the earlier row is the answer. 400003 precedes the signature because an oversized body is noticed while it is being
 * read, and the signature covers the whole of it. 420002 leads the business codes so that a resent order hears that it
 * exists, whatever has changed around it since. Where encrypted fields are read, 429001 for too many failures of theirs comes
 * in the place of 400002.
 */
export const resultCodes = [
  { name: 'PATH_NOT_FOUND', code: '404001', http: 404, message: 'no such endpoint' },
  { name: 'METHOD_NOT_ALLOWED', code: '405001', http: 405, message: 'endpoints are called with POST' },
  {
    name: 'AUTH_HEADER_INVALID',
    code: '401001',
    http: 401,
    message: 'a required header is missing or malformed',
    isByStranger: true,
  },
  {
    name: 'TIMESTAMP_SKEWED',
    code: '401003',
    http: 401,
    message: 'timestamp is too far from the service clock',
    isByStranger: true,
  },
  { name: 'BODY_TOO_LARGE', code: '400003', http: 200, message: 'request body is larger than 1 MB' },
  { name: 'SIGNATURE_INVALID', code: '401002', http: 401, message: 'signature does not match', isByStranger: true },
  { name: 'NONCE_REUSED', code: '401004', http: 401, message: 'nonce was used before', isByStranger: true },
  { name: 'IP_NOT_ALLOWED', code: '403001', http: 200, message: 'caller address is not on the allow-list' },
  { name: 'CHANNEL_DISABLED', code: '403002', http: 200, message: 'channel is suspended' },
  { name: 'RATE_LIMITED', code: '429001', http: 429, message: 'too many requests' },
  { name: 'TOKEN_INVALID', code: '401005', http: 401, message: 'access token is not valid' },
  { name: 'TOKEN_EXPIRED', code: '401006', http: 401, message: 'access token has expired' },
  { name: 'PARAM_INVALID', code: '400001', http: 200, message: 'request parameters are not valid' },
  { name: 'DECRYPT_FAILED', code: '400002', http: 200, message: 'an encrypted field cannot be read' },
  {
    name: 'IDEMPOTENCY_CONFLICT',
    code: '409001',
    http: 200,
    message: 'idempotency key was used with another request',
  },
  {
    name: 'IDEMPOTENCY_IN_PROGRESS',
    code: '409002',
    http: 200,
    message: 'first request with this idempotency key is still running',
  },
  { name: 'SUBSCRIPTION_NOT_FOUND', code: '420001', http: 200, message: 'no such order', isOutcome: true },
  {
    name: 'SUBSCRIPTION_ALREADY_EXISTS',
    code: '420002',
    http: 200,
    message: 'externalOrderNo is already used',
    isOutcome: true,
  },
  {
    name: 'AGREEMENT_REPLACE_NOT_ALLOWED',
    code: '410008',
    http: 200,
    message: 'order does not run on a shared agreement',
    isOutcome: true,
  },
  { name: 'SUBSCRIPTION_UNSUBSCRIBED', code: '420003', http: 200, message: 'order is unsubscribed', isOutcome: true },
  { name: 'SUBSCRIPTION_ALREADY_COMPLETED', code: '420004', http: 200, message: 'order is completed', isOutcome: true },
  {
    name: 'SUBSCRIPTION_FIRST_PAYMENT_PENDING',
    code: '420008',
    http: 200,
    message: 'first payment of the order is still pending',
    isOutcome: true,
  },
  { name: 'PRODUCT_NOT_FOUND', code: '420005', http: 200, message: 'no such product', isOutcome: true },
  {
    name: 'PRODUCT_NOT_AUTHORIZED',
    code: '420006',
    http: 200,
    message: 'product is not authorized to the channel',
    isOutcome: true,
  },
  {
    name: 'SETTLEMENT_MODE_MISMATCH',
    code: '420009',
    http: 200,
    message: 'product is not sold in this settlement mode',
    isOutcome: true,
  },
  {
    name: 'CYCLE_MISMATCH',
    code: '420007',
    http: 200,
    message: 'cycle differs from the cycle of the product',
    isOutcome: true,
  },
  { name: 'AGREEMENT_NOT_FOUND', code: '410001', http: 200, message: 'no such binding order', isOutcome: true },
  { name: 'BIND_ORDER_CLOSED', code: '410003', http: 200, message: 'binding order is finished', isOutcome: true },
  { name: 'AGREEMENT_NOT_BOUND', code: '410002', http: 200, message: 'agreement is not bound', isOutcome: true },
  {
    name: 'SMS_CODE_EXPIRED',
    code: '410004',
    http: 200,
    message: 'verification code is no longer valid',
    isOutcome: true,
  },
  {
    name: 'BIND_CHANNEL_CHANGED',
    code: '410007',
    http: 200,
    message: 'binding order has another payment channel',
    isOutcome: true,
  },
  {
    name: 'PAYMENT_CHANNEL_REQUIRED',
    code: '410006',
    http: 200,
    message: 'paymentChannelCode is needed, there is no default',
    isOutcome: true,
  },
  {
    name: 'PAYMENT_CHANNEL_NOT_ALLOWED',
    code: '403003',
    http: 200,
    message: 'payment channel is not authorized to the channel',
    isOutcome: true,
  },
  {
    name: 'SHARED_AGREEMENT_NOT_ALLOWED',
    code: '403004',
    http: 200,
    message: 'payment channel does not take shared agreements',
    isOutcome: true,
  },
  {
    name: 'BANK_NOT_SUPPORTED',
    code: '410005',
    http: 200,
    message: 'bankCode is missing or not supported',
    isOutcome: true,
  },
  {
    name: 'CHANNEL_USER_MOBILE_MISMATCH',
    code: '410010',
    http: 200,
    message: 'channel user is known under another mobile number',
    isOutcome: true,
  },
  {
    name: 'CHANNEL_MOBILE_OCCUPIED',
    code: '410011',
    http: 200,
    message: 'mobile number belongs to another channel user',
    isOutcome: true,
  },
  { name: 'SMS_TOO_FREQUENT', code: '429002', http: 200, message: 'too many verification codes to this number' },
  { name: 'INTERNAL_ERROR', code: '500001', http: 500, message: 'internal error' },
  { name: 'UNAVAILABLE', code: '503001', http: 503, message: 'service is unavailable, try again later' },
  { name: 'SUCCESS', code: '0', http: 200, message: 'success' },
] as const;

export type CodeName = (typeof resultCodes)[number]['name'];

export interface ResultCode {
  readonly name: CodeName;
  readonly code: string;
  readonly http: 200 | 401 | 404 | 405 | 429 | 500 | 503;
  readonly message: string;
  /** The sender was not authenticated: a client that keeps sending such requests is slowed down. */
  readonly isByStranger?: true;
  /** What the business rules say: it is stored with the request's idempotency key, and answered again. */
  readonly isOutcome?: true;
}

export const CODES = Object.fromEntries(resultCodes.map((row) => [row.name, row])) as Record<CodeName, ResultCode>;

const rowsByCode = new Map<string, ResultCode>(resultCodes.map((row) => [row.code, row]));

export function findResultCode(code: string): ResultCode | undefined {
  return rowsByCode.get(code);
}
