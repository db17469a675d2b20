interface Row<Name extends string> {
  readonly name: Name;
  readonly code: string;
  readonly http: 200 | 401 | 404 | 405 | 429 | 500 | 503;
  readonly message: string;
  /** True if the sender was not authenticated. A client that gets many of these codes is throttled. */
  readonly isByStranger?: true;
  /** True for a business result. Like a success, it is stored under the request's idempotency key and replayed. */
  readonly isOutcome?: true;
}

const refusal = <Name extends string>(
  name: Name,
  code: string,
  http: Row<Name>['http'],
  message: string,
): Row<Name> => ({ name, code, http, message });

const stranger = <Name extends string>(name: Name, code: string, message: string): Row<Name> => ({
  ...refusal(name, code, 401, message),
  isByStranger: true,
});

const outcome = <Name extends string>(name: Name, code: string, message: string): Row<Name> => ({
  ...refusal(name, code, 200, message),
  isOutcome: true,
});

/**
 * The registry of result codes, in order of precedence: if two codes apply to a request, the earlier row wins. 400003
 * precedes the signature check, because an oversized body is refused while it is read, and the signature needs the
 * whole body. 420002 precedes the other business codes of orders/create, so that a resent order is reported as existing
 * even if its product or agreement has changed since. For a number of another channel the refusals of the product come
 * first. After too many decryption failures, 429001 replaces 400002.
 */
export const resultCodes = [
  refusal('PATH_NOT_FOUND', '404001', 404, 'no such endpoint'),
  refusal('METHOD_NOT_ALLOWED', '405001', 405, 'method must be POST'),
  stranger('AUTH_HEADER_INVALID', '401001', 'a required header is missing or malformed'),
  stranger('TIMESTAMP_SKEWED', '401003', 'X-SVC-Timestamp is more than 5 minutes off'),
  refusal('BODY_TOO_LARGE', '400003', 200, 'request body is larger than 1 MB'),
  stranger('SIGNATURE_INVALID', '401002', 'signature does not match'),
  stranger('NONCE_REUSED', '401004', 'nonce was used before'),
  refusal('IP_NOT_ALLOWED', '403001', 200, 'caller address is not on the allow-list'),
  refusal('CHANNEL_DISABLED', '403002', 200, 'channel is suspended'),
  refusal('RATE_LIMITED', '429001', 429, 'too many requests'),
  refusal('TOKEN_INVALID', '401005', 401, 'access token is not valid'),
  refusal('TOKEN_EXPIRED', '401006', 401, 'access token has expired'),
  refusal('PARAM_INVALID', '400001', 200, 'request parameters are not valid'),
  refusal('DECRYPT_FAILED', '400002', 200, 'an encrypted field cannot be decrypted'),
  refusal('IDEMPOTENCY_CONFLICT', '409001', 200, 'Idempotency-Key was used with another request'),
  refusal('IDEMPOTENCY_IN_PROGRESS', '409002', 200, 'first request with this Idempotency-Key is still in progress'),
  outcome('SUBSCRIPTION_NOT_FOUND', '420001', 'no such order'),
  outcome('SUBSCRIPTION_ALREADY_EXISTS', '420002', 'externalOrderNo is already in use'),
  outcome('AGREEMENT_REPLACE_NOT_ALLOWED', '410008', 'order does not use a shared agreement'),
  outcome('SUBSCRIPTION_UNSUBSCRIBED', '420003', 'order is unsubscribed'),
  outcome('SUBSCRIPTION_ALREADY_COMPLETED', '420004', 'order is completed'),
  outcome('SUBSCRIPTION_FIRST_PAYMENT_PENDING', '420008', 'first payment of the order is still pending'),
  outcome('PRODUCT_NOT_FOUND', '420005', 'no such product'),
  outcome('PRODUCT_NOT_AUTHORIZED', '420006', 'channel is not authorized for the product'),
  outcome('SETTLEMENT_MODE_MISMATCH', '420009', 'product is not sold in this settlement mode'),
  outcome('CYCLE_MISMATCH', '420007', "periodType, period or totalCycles differs from the product's"),
  outcome('AGREEMENT_NOT_FOUND', '410001', 'no such bindOrderNo'),
  outcome('BIND_ORDER_CLOSED', '410003', 'binding is closed'),
  outcome('AGREEMENT_NOT_BOUND', '410002', 'binding is not BIND_SUCCESS'),
  outcome('SMS_CODE_EXPIRED', '410004', 'verification code is no longer valid'),
  outcome('BIND_CHANNEL_CHANGED', '410007', "paymentChannelCode differs from the binding's"),
  outcome('PAYMENT_CHANNEL_REQUIRED', '410006', 'paymentChannelCode is required: the channel has no default'),
  outcome('PAYMENT_CHANNEL_NOT_ALLOWED', '403003', 'channel is not authorized for the payment channel'),
  outcome('SHARED_AGREEMENT_NOT_ALLOWED', '403004', 'payment channel does not accept shared agreements'),
  outcome('BANK_NOT_SUPPORTED', '410005', 'bankCode is missing or not supported'),
  outcome('CHANNEL_USER_MOBILE_MISMATCH', '410010', 'channelUserId is registered with another mobile'),
  outcome('CHANNEL_MOBILE_OCCUPIED', '410011', 'mobile belongs to another channelUserId'),
  refusal('SMS_TOO_FREQUENT', '429002', 200, 'too many verification codes for this bank mobile'),
  refusal('INTERNAL_ERROR', '500001', 500, 'internal error'),
  refusal('UNAVAILABLE', '503001', 503, 'service is unavailable, try again later'),
  refusal('SUCCESS', '0', 200, 'success'),
] as const;

export type CodeName = (typeof resultCodes)[number]['name'];

export type ResultCode = Row<CodeName>;

export const CODES = Object.fromEntries(resultCodes.map((row) => [row.name, row])) as Record<CodeName, ResultCode>;

const rowsByCode = new Map<string, ResultCode>(resultCodes.map((row) => [row.code, row]));

export function findResultCode(code: string): ResultCode | undefined {
  return rowsByCode.get(code);
}
