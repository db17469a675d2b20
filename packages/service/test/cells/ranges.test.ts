import { expect, it } from 'vitest';
import { parseEventId } from '../../src/delivery/event-id.js';
import { cellOfNumber, MAX_CELL, rangesOf } from '../../src/platform/cells.js';
import {
  formatAttemptNo,
  formatPaymentOrderNo,
  parseAttemptNo,
  parseOrderNo,
} from '../../src/subscriptions/domain/orders/order-numbers.js';

const CELLS = Array.from({ length: MAX_CELL + 1 }, (_, cell) => cell);
/** The last order number of a block: the sequence gives out the first one. */
const LAST_IN_BLOCK = 999;

it('no number of any kind belongs to two cells', () => {
  for (const [kind] of rangesOf(0).entries()) {
    const ranges = CELLS.map((cell) => rangesOf(cell)[kind]).map((one) => ({ min: one?.min ?? 0, max: one?.max ?? 0 }));
    for (const [cell, { min, max }] of ranges.entries()) {
      expect(min).toBeLessThan(max);
      const next = ranges[cell + 1];
      const last = kind === 0 ? max + LAST_IN_BLOCK : max;
      if (next) expect(last).toBeLessThan(next.min);
    }
  }
});

it('a range contains its start, and keeps the numbers of existing installations', () => {
  for (const cell of CELLS) {
    for (const { min, max, start } of rangesOf(cell)) expect(start >= min && start <= max).toBe(true);
  }
  expect(rangesOf(0).map(({ start }) => start)).toEqual([100_000_001_000, 200_000_000_001, 1, 100_001]);
});

it('numbers of every cell fit the parsers and 64 bits, and name their cell', () => {
  for (const cell of CELLS) {
    const [orders, , events] = rangesOf(cell);
    for (const number of [orders?.start ?? 0, (orders?.max ?? 0) + LAST_IN_BLOCK]) {
      expect(parseOrderNo(`${number}`)).toBe(number);
      expect(BigInt(formatPaymentOrderNo(number, 9999))).toBeLessThan(2n ** 63n);
      expect(parseAttemptNo(formatAttemptNo(number, 9999, 99))).toEqual({ orderNo: number, cycleNo: 9999, tryNo: 99 });
      expect(cellOfNumber(number)).toBe(cell);
    }
    expect(parseEventId(`${events?.max}`)?.eventNo).toBe(events?.max);
  }
});

it('a number has 15 digits in every cell but 0, and begins like no card', () => {
  for (const cell of CELLS.slice(1)) {
    for (const { start, max } of rangesOf(cell).slice(0, 3)) {
      for (const number of [start, max])
        expect(`${number}`).toMatch(new RegExp(`^1${`${cell}`.padStart(2, '0')}\\d{12}$`));
    }
  }
});

it.each([100_000_000_000_000, 189_000_000_000_000, 900_000_000_000_000])('%d is of no cell', (number) => {
  expect(cellOfNumber(number)).toBeUndefined();
});
