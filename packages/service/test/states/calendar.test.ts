import { formatTime, parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueAfterFirstPeriod, periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';

const at = (text: string) => {
  const time = parseTime(text);
  if (time === undefined) throw new Error(`no time: ${text}`);
  return time;
};

interface Case {
  readonly anchor: number;
  readonly periodType: 'DAY' | 'MONTH';
  readonly period: number;
  readonly cycleNo: number;
}

const anyPeriod = fc.oneof(fc.constantFrom(1, 2, 3, 6, 12), fc.integer({ min: 1, max: 1200 }));

/** Cases that products allow: at most 7,000 years, so that every due time has a four-digit year. */
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    anchor: fc
      .integer({ min: at('1992-01-01 00:00:00') / 1000, max: at('2200-12-31 23:59:59') / 1000 })
      .map((seconds) => seconds * 1000),
    periodType: fc.constantFrom('DAY' as const, 'MONTH' as const),
    period: anyPeriod,
    cycleNo: fc.oneof(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 120 })),
  })
  .map((one) => {
    const most = Math.floor((one.periodType === 'DAY' ? 7000 * 365 : 7000 * 12) / one.period);
    return { ...one, cycleNo: ((one.cycleNo - 1) % most) + 1 };
  });

/** Cases with anchors near the ends of months, where days could be lost, over about 200 years. */
const anyMonthEnd: fc.Arbitrary<Case> = fc
  .record({
    year: fc.integer({ min: 1992, max: 2200 }),
    month: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(2)),
    fromEnd: fc.integer({ min: -3, max: 1 }),
    // Times of day, among them midnight in Shanghai and in UTC, and the last instants before each.
    ms: fc.constantFrom(0, 1000, 28_799_999, 28_800_000, 43_200_000, 57_600_000, 86_399_000, 86_399_999),
    period: anyPeriod,
    cycleNo: fc.integer({ min: 1, max: 2400 }),
  })
  .map(({ year, month, fromEnd, ms, period, cycleNo }) => ({
    anchor: Date.UTC(year, month, fromEnd) + ms - 8 * 3_600_000,
    periodType: 'MONTH' as const,
    period,
    cycleNo: ((cycleNo - 1) % Math.ceil(2400 / period)) + 1,
  }));

/** Returns a moment in Shanghai's local time, with months counted from year 0. Does not use the code under test. */
function read(time: number) {
  const [year = 0, month = 0, day = 0] = formatTime(time).slice(0, 10).split('-').map(Number);
  return { months: year * 12 + month - 1, day, timeOfDay: `${formatTime(time).slice(11)} ${time % 1000}` };
}

const lastDayOf = (months: number) => new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate();

describe('when periods are due', () => {
  const anyOrder = fc.oneof(anyCase, anyMonthEnd);

  it("never drift: the month is counted from the anchor's, and the day is the anchor's or the month's last", () => {
    fc.assert(
      fc.property(anyOrder, ({ anchor, cycleNo, ...cadence }) => {
        fc.pre(cadence.periodType === 'MONTH');
        const from = read(anchor);
        // Tests two periods in a row, because the date of the anchor is cached.
        for (const period of [cycleNo, cycleNo + 1]) {
          const due = read(periodDueAt(anchor, cadence, period));
          expect(due).toEqual({
            months: from.months + (period - 1) * cadence.period,
            day: Math.min(from.day, lastDayOf(due.months)),
            timeOfDay: from.timeOfDay,
          });
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('have days of 24 hours, at the same time of day', () => {
    fc.assert(
      fc.property(anyCase, ({ anchor, cycleNo, period }) => {
        const due = periodDueAt(anchor, { periodType: 'DAY', period }, cycleNo);
        expect(due - anchor).toBe((cycleNo - 1) * period * 86_400_000);
      }),
    );
  });

  it('after the first period comes the second, or completion for an order of one period', () => {
    const order = { periodType: 'MONTH', period: 1, createdAt: at('2026-01-31 12:00:00') } as const;
    expect(formatTime(dueAfterFirstPeriod({ ...order, totalCycles: 2 }))).toBe('2026-02-28 12:00:00');
    expect(dueAfterFirstPeriod({ ...order, totalCycles: 1 })).toBe(order.createdAt);
  });
});
