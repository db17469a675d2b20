import { describe, expect, it } from 'vitest';
import { formatAttemptNo, parseAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo, parseRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';

describe('the number of a refund', () => {
  it.each([
    [{ orderNo: 100_000_001_000, cycleNo: 1, refundSeq: 1 }, 'R100000001000000101'],
    [{ orderNo: 899_999_999_999_999, cycleNo: 9999, refundSeq: 99 }, 'R899999999999999999999'],
  ])('names its order, period and turn: %j', (reference, number) => {
    expect(formatRefundNo(reference)).toBe(number);
    expect(parseRefundNo(number)).toEqual(reference);
  });

  it('is never that of an attempt', () => {
    const reference = { orderNo: 100_000_001_000, cycleNo: 1, refundSeq: 1 };
    expect(parseAttemptNo(formatRefundNo(reference))).toBeUndefined();
    expect(parseRefundNo(formatAttemptNo(100_000_001_000, 1, 1))).toBeUndefined();
  });

  it.each(['', 'R', 'R1', 'R100000001000000100', 'R100000001000000001', 'r100000001000000101', 'R1000000010000001ab'])(
    'is not %j',
    (text) => {
      expect(parseRefundNo(text)).toBeUndefined();
    },
  );
});
