import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.js';
import {
  formatAttemptNo,
  formatPaymentOrderNo,
  parseAttemptNo,
  parseOrderNo,
  parsePaymentOrderNo,
} from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo, parseRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import { createOrderNumbers } from '../../src/subscriptions/store/orders/new-orders-sql.js';

/** Order numbers as the sequence returns them. */
const anyOrderNo = fc.integer({ min: 100_000_001_000, max: 900_000_000_000_999 });
const anyCycleNo = fc.integer({ min: 1, max: 9999 });
const anyTryNo = fc.integer({ min: 1, max: 99 });

describe('numbers', () => {
  it('are parsed to what they were formatted from', () => {
    fc.assert(
      fc.property(anyOrderNo, anyCycleNo, anyTryNo, (orderNo, cycleNo, tryNo) => {
        expect(parseOrderNo(String(orderNo))).toBe(orderNo);
        expect(parsePaymentOrderNo(formatPaymentOrderNo(orderNo, cycleNo))).toEqual({ orderNo, cycleNo });
        const attemptNo = formatAttemptNo(orderNo, cycleNo, tryNo);
        expect(parseAttemptNo(attemptNo)).toEqual({ orderNo, cycleNo, tryNo });
        // A refund number begins with R, so it never equals an attempt number.
        const refund = { orderNo, cycleNo, refundSeq: tryNo };
        expect(formatRefundNo(refund)).toBe(`R${attemptNo}`);
        expect(parseRefundNo(`R${attemptNo}`)).toEqual(refund);
        expect([parseAttemptNo(`R${attemptNo}`), parseRefundNo(attemptNo)]).toEqual([undefined, undefined]);
      }),
    );
  });

  it('paymentOrderNo is orderNo x 10,000 + cycleNo, and stays a 64-bit number', () => {
    fc.assert(
      fc.property(anyOrderNo, anyCycleNo, (orderNo, cycleNo) => {
        const number = BigInt(formatPaymentOrderNo(orderNo, cycleNo));
        expect(number).toBe(BigInt(orderNo) * 10_000n + BigInt(cycleNo));
        expect(number).toBeLessThan(2n ** 63n);
      }),
    );
  });

  /** Random texts, most of them similar to numbers. Only the canonical spelling of a number is accepted. */
  const anyText = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[0-9]{1,25}$/),
    fc.stringMatching(/^[0-9 .+\-ex]{1,22}$/),
    fc.tuple(anyOrderNo, fc.stringMatching(/^[0-9 .+\-ex]{0,6}$/)).map(([orderNo, end]) => `${orderNo}${end}`),
  );

  it('have one spelling', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const order = parseOrderNo(text);
        if (order !== undefined) expect(String(order)).toBe(text);
        const payment = parsePaymentOrderNo(text);
        if (payment) expect(formatPaymentOrderNo(payment.orderNo, payment.cycleNo)).toBe(text);
        const attempt = parseAttemptNo(text);
        if (attempt) expect(formatAttemptNo(attempt.orderNo, attempt.cycleNo, attempt.tryNo)).toBe(text);
        const refund = parseRefundNo(`R${text}`);
        if (refund) expect(formatRefundNo(refund)).toBe(`R${text}`);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('new order numbers', () => {
  /** Returns a fake database that hands out blocks of numbers. Its first `failures` queries fail. */
  const sequence = (failures = 0): Queryable & { asked: number } => {
    let next = 1000;
    const db = {
      asked: 0,
      async query<Row>(): Promise<Row[]> {
        db.asked += 1;
        if (db.asked <= failures) throw new Error('away');
        next += 1000;
        return [{ first: next - 1000 }] as Row[];
      },
    };
    return db;
  };

  it('2,500 concurrent ones: all different, from three blocks', async () => {
    const db = sequence();
    const { next } = createOrderNumbers(db);
    const numbers = await Promise.all(Array.from({ length: 2500 }, () => next()));
    expect(new Set(numbers).size).toBe(2500);
    expect(db.asked).toBe(3);
    expect([Math.min(...numbers), Math.max(...numbers)]).toEqual([1000, 3499]);
  });

  it('a database outage fails only the requests of that moment, and repeats no number', async () => {
    const { next } = createOrderNumbers(sequence(1));
    const first = await Promise.allSettled([next(), next()]);
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([await next(), await next()]).toEqual([1000, 1001]);
  });

  it('a number already used drops those of its block, and no others', async () => {
    const numbers = createOrderNumbers(sequence());
    const first = await numbers.next();
    numbers.dropBatchOf(first);
    expect(await numbers.next()).toBe(2000);
    // Another number of the dropped block that is also already used does not drop the new block.
    numbers.dropBatchOf(first + 1);
    expect(await numbers.next()).toBe(2001);
  });
});
