import { describe, expect, it } from 'vitest';
import { CODES, type CodeName, findResultCode, resultCodes } from '../src/codes.js';

/** Copied from the interface document and the decisions, not from the registry, so that the test finds changes. */
const expected: Record<string, CodeName> = {
  '0': 'SUCCESS',
  '400001': 'PARAM_INVALID',
  '400002': 'DECRYPT_FAILED',
  '400003': 'BODY_TOO_LARGE',
  '401001': 'AUTH_HEADER_INVALID',
  '401002': 'SIGNATURE_INVALID',
  '401003': 'TIMESTAMP_SKEWED',
  '401004': 'NONCE_REUSED',
  '401005': 'TOKEN_INVALID',
  '401006': 'TOKEN_EXPIRED',
  '403001': 'IP_NOT_ALLOWED',
  '403002': 'CHANNEL_DISABLED',
  '403003': 'PAYMENT_CHANNEL_NOT_ALLOWED',
  '403004': 'SHARED_AGREEMENT_NOT_ALLOWED',
  '404001': 'PATH_NOT_FOUND',
  '405001': 'METHOD_NOT_ALLOWED',
  '409001': 'IDEMPOTENCY_CONFLICT',
  '409002': 'IDEMPOTENCY_IN_PROGRESS',
  '410001': 'AGREEMENT_NOT_FOUND',
  '410002': 'AGREEMENT_NOT_BOUND',
  '410003': 'BIND_ORDER_CLOSED',
  '410004': 'SMS_CODE_EXPIRED',
  '410005': 'BANK_NOT_SUPPORTED',
  '410006': 'PAYMENT_CHANNEL_REQUIRED',
  '410007': 'BIND_CHANNEL_CHANGED',
  '410008': 'AGREEMENT_REPLACE_NOT_ALLOWED',
  '410010': 'CHANNEL_USER_MOBILE_MISMATCH',
  '410011': 'CHANNEL_MOBILE_OCCUPIED',
  '420001': 'SUBSCRIPTION_NOT_FOUND',
  '420002': 'SUBSCRIPTION_ALREADY_EXISTS',
  '420003': 'SUBSCRIPTION_UNSUBSCRIBED',
  '420004': 'SUBSCRIPTION_ALREADY_COMPLETED',
  '420005': 'PRODUCT_NOT_FOUND',
  '420006': 'PRODUCT_NOT_AUTHORIZED',
  '420007': 'CYCLE_MISMATCH',
  '420008': 'SUBSCRIPTION_FIRST_PAYMENT_PENDING',
  '420009': 'SETTLEMENT_MODE_MISMATCH',
  '429001': 'RATE_LIMITED',
  '429002': 'SMS_TOO_FREQUENT',
  '500001': 'INTERNAL_ERROR',
  '503001': 'UNAVAILABLE',
};

function httpOf(code: string): number {
  if (code.startsWith('401')) return 401;
  return { '404001': 404, '405001': 405, '429001': 429, '500001': 500, '503001': 503 }[code] ?? 200;
}

describe('the registry of result codes', () => {
  it('has exactly the codes of the interface, by name', () => {
    expect(Object.fromEntries(resultCodes.map((row) => [row.code, row.name]))).toEqual(expected);
    expect(resultCodes).toHaveLength(Object.keys(expected).length);
  });

  it.each(resultCodes)('$code $name has its HTTP status and a message', (row) => {
    expect(row.http).toBe(httpOf(row.code));
    expect(row.message).not.toBe('');
    expect(CODES[row.name]).toBe(row);
    expect(findResultCode(row.code)).toBe(row);
  });

  it('orders the checks of every request', () => {
    const common = resultCodes.slice(0, 16).map((row) => row.code);
    expect(common).toEqual([
      ...['404001', '405001', '401001', '401003', '400003', '401002', '401004', '403001', '403002'],
      ...['429001', '401005', '401006', '400001', '400002', '409001', '409002'],
    ]);
    expect(resultCodes.slice(-3).map((row) => row.code)).toEqual(['500001', '503001', '0']);
  });

  it('knows no other code', () => {
    expect(findResultCode('420010')).toBeUndefined();
    expect(findResultCode('')).toBeUndefined();
    expect(findResultCode('constructor')).toBeUndefined();
  });
});
