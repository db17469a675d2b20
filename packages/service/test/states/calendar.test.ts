import { formatTime, parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueAfterFirstPeriod, periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofFile(() => freshDatabase({ migrated: false }));

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

/** Computes the due times in PostgreSQL, in the time zone that all connections have. */
async function byDatabase(cases: readonly Case[]): Promise<number[]> {
  const [zone] = await fresh.database.query<{ TimeZone: string }>('show time zone');
  expect(zone?.TimeZone).toBe('Asia/Shanghai');
  const rows = await fresh.database.query<{ due: number }>(
    `select (extract(epoch from to_timestamp(c.anchor / 1000.0) + (c."cycleNo" - 1) * c.period
       * case c."periodType" when 'DAY' then interval '1 day' else interval '1 month' end) * 1000)::bigint as due
     from rows from (json_to_recordset($1::json)
       as (anchor bigint, "periodType" text, period integer, "cycleNo" integer)) with ordinality
       as c(anchor, "periodType", period, "cycleNo", n) order by n`,
    [JSON.stringify(cases)],
  );
  return rows.map(({ due }) => due);
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
    // Midnight in Shanghai and midnight in UTC, and the last instants before each.
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

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
function lastDayOf(months: number): number {
  const february = isLeap(Math.floor(months / 12)) ? 29 : 28;
  return [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][months % 12] ?? 0;
}

describe('when periods are due', () => {
  it.each([
    ['any product and any anchor', anyCase],
    ['ends of months', anyMonthEnd],
  ])('the same as PostgreSQL says: %s', async (_what, arbitrary) => {
    // Uses a sample instead of one query per case, because many cases fit into one query.
    const cases = fc.sample(arbitrary, 40_000);
    const theirs = await byDatabase(cases);
    const differs = ({ anchor, cycleNo, ...cadence }: Case, index: number) =>
      periodDueAt(anchor, cadence, cycleNo) !== theirs[index];
    expect(cases.filter(differs).slice(0, 5)).toEqual([]);
  });

  it("equal PostgreSQL's result for the last instant of every leap day and its neighbours", async () => {
    const years = Array.from({ length: 209 }, (_, n) => 1992 + n).filter(isLeap);
    const anchors = years.flatMap((year) =>
      [28, 29, 31].map((day) => Date.UTC(year, day === 31 ? 0 : 1, day + 1) - 8 * 3_600_000 - 1),
    );
    const cases = anchors.flatMap((anchor) =>
      [1, 12, 48].flatMap((period) =>
        Array.from({ length: 60 }, (_, n) => ({ anchor, periodType: 'MONTH' as const, period, cycleNo: n + 1 })),
      ),
    );
    expect(cases.map(({ anchor, cycleNo, ...cadence }) => periodDueAt(anchor, cadence, cycleNo))).toEqual(
      await byDatabase(cases),
    );
  });

  it("equal PostgreSQL's result for all 9,999 periods of one order", async () => {
    for (const cadence of [
      { periodType: 'DAY', period: 1 },
      { periodType: 'MONTH', period: 1 },
      { periodType: 'MONTH', period: 5 },
    ] as const) {
      const anchor = at('2026-01-31 12:00:00');
      const cases = Array.from({ length: 9999 }, (_, n) => ({ anchor, ...cadence, cycleNo: n + 1 }));
      expect(cases.map(({ cycleNo }) => periodDueAt(anchor, cadence, cycleNo))).toEqual(await byDatabase(cases));
    }
  });

  const anyOrder = fc.oneof(anyCase, anyMonthEnd);

  it('tile: the first period begins at the anchor, and each ends where the next begins', () => {
    fc.assert(
      fc.property(anyOrder, fc.integer({ min: 2, max: 40 }), ({ anchor, cycleNo, ...cadence }, count) => {
        expect(periodDueAt(anchor, cadence, 1)).toBe(anchor);
        const due = Array.from({ length: count }, (_, n) => periodDueAt(anchor, cadence, cycleNo + n));
        for (const [n, time] of due.slice(1).entries()) expect(time).toBeGreaterThan(due[n] ?? Number.NaN);
        expect(due[0]).toBeGreaterThanOrEqual(anchor);
      }),
      { numRuns: 1000 },
    );
  });

  it("never drift: the month is counted from the anchor's, and the day is the anchor's or the month's last", () => {
    fc.assert(
      fc.property(anyOrder, ({ anchor, cycleNo, ...cadence }) => {
        fc.pre(cadence.periodType === 'MONTH');
        const [from, due] = [read(anchor), read(periodDueAt(anchor, cadence, cycleNo))];
        expect(due).toEqual({
          months: from.months + (cycleNo - 1) * cadence.period,
          day: Math.min(from.day, lastDayOf(due.months)),
          timeOfDay: from.timeOfDay,
        });
      }),
      { numRuns: 2000 },
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

  it('of n months are every nth of one month, and the same for days', () => {
    fc.assert(
      fc.property(anyOrder, ({ anchor, cycleNo, periodType, period }) => {
        expect(periodDueAt(anchor, { periodType, period }, cycleNo)).toBe(
          periodDueAt(anchor, { periodType, period: 1 }, (cycleNo - 1) * period + 1),
        );
      }),
      { numRuns: 1000 },
    );
  });

  const monthly = { periodType: 'MONTH', period: 1 } as const;
  const diary = (anchor: string, cadence: { periodType: 'DAY' | 'MONTH'; period: number }, count: number) =>
    Array.from({ length: count }, (_, n) => formatTime(periodDueAt(at(anchor), cadence, n + 1)).slice(0, 10));

  const DAILY = { periodType: 'DAY', period: 1 } as const;
  const every = (period: number) => ({ periodType: 'MONTH', period }) as const;
  it.each([
    ['2026-01-31 12:00:00', monthly, ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['2028-01-31 12:00:00', monthly, ['2028-01-31', '2028-02-29', '2028-03-31']],
    ['2096-11-30 00:00:00', every(3), ['2096-11-30', '2097-02-28', '2097-05-30']],
    ['2028-02-29 23:59:59', every(12), ['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
    // 2100 is no leap year, 2000 is one.
    ['2096-02-29 23:59:59', every(48), ['2096-02-29', '2100-02-28', '2104-02-29']],
    ['1996-02-29 00:00:00', every(48), ['1996-02-29', '2000-02-29', '2004-02-29']],
    ['2027-12-29 23:59:59', monthly, ['2027-12-29', '2028-01-29', '2028-02-29', '2028-03-29', '2028-04-29']],
    ['2027-12-30 23:59:59', monthly, ['2027-12-30', '2028-01-30', '2028-02-29', '2028-03-30', '2028-04-30']],
    ['2027-12-31 23:59:59', monthly, ['2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30']],
    // Days are those of Asia/Shanghai: just after midnight there it is still the previous day in UTC.
    ['2026-01-31 00:00:01', monthly, ['2026-01-31', '2026-02-28']],
    ['2026-02-28 23:59:59', DAILY, ['2026-02-28', '2026-03-01']],
  ])('%s, %j: %j', (anchor, cadence, days) => {
    expect(diary(anchor, cadence, days.length)).toEqual(days);
  });

  it('after the first period comes the second, or completion for an order of one period', () => {
    const order = { ...monthly, createdAt: at('2026-01-31 12:00:00') };
    expect(formatTime(dueAfterFirstPeriod({ ...order, totalCycles: 2 }))).toBe('2026-02-28 12:00:00');
    expect(dueAfterFirstPeriod({ ...order, totalCycles: 1 })).toBe(order.createdAt);
  });
});
