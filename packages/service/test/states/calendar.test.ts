import { formatTime, parseTime } from '@perennial/wire';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dueAt, nextStepAt } from '../../src/orders/calendar.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: false });
});
afterAll(() => fresh.close());

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

/** What PostgreSQL makes of the same, in the time zone that every connection of ours has. */
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

/** As products may be: at most 7,000 years, so that every due time has four digits of year. */
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    anchor: fc
      .integer({ min: at('2000-01-01 00:00:00') / 1000, max: at('2199-12-31 23:59:59') / 1000 })
      .map((seconds) => seconds * 1000),
    periodType: fc.constantFrom('DAY' as const, 'MONTH' as const),
    period: fc.oneof(fc.constantFrom(1, 2, 3, 6, 12), fc.integer({ min: 1, max: 1200 })),
    cycleNo: fc.integer({ min: 1, max: 9999 }),
  })
  .map((one) => {
    const most = Math.floor((one.periodType === 'DAY' ? 7000 * 365 : 7000 * 12) / one.period);
    return { ...one, cycleNo: ((one.cycleNo - 1) % most) + 1 };
  });

/** Anchors near the ends of months, where the two could differ. */
const anyMonthEnd: fc.Arbitrary<Case> = fc
  .record({
    year: fc.integer({ min: 2000, max: 2199 }),
    month: fc.integer({ min: 1, max: 12 }),
    fromEnd: fc.integer({ min: -2, max: 1 }),
    second: fc.constantFrom(0, 1, 43_200, 57_599, 57_600, 86_399),
    period: fc.integer({ min: 1, max: 24 }),
    cycleNo: fc.integer({ min: 1, max: 400 }),
  })
  .map(({ year, month, fromEnd, second, period, cycleNo }) => ({
    anchor: Date.UTC(year, month, fromEnd) + second * 1000 - 8 * 3_600_000,
    periodType: 'MONTH' as const,
    period,
    cycleNo,
  }));

describe('when periods are due', () => {
  it.each([
    ['any product and any anchor', anyCase],
    ['ends of months', anyMonthEnd],
  ])('the same as PostgreSQL says: %s', async (_what, arbitrary) => {
    // Many cases in one question: so they are sampled, and what differs is shown as it is.
    const cases = fc.sample(arbitrary, 20_000);
    const theirs = await byDatabase(cases);
    const differs = ({ anchor, cycleNo, ...cadence }: Case, index: number) =>
      dueAt(anchor, cadence, cycleNo) !== theirs[index];
    expect(cases.filter(differs).slice(0, 5)).toEqual([]);
  });

  it('all 9,999 periods of one order, against PostgreSQL', async () => {
    for (const cadence of [
      { periodType: 'DAY', period: 1 },
      { periodType: 'MONTH', period: 1 },
      { periodType: 'MONTH', period: 5 },
    ] as const) {
      const anchor = at('2026-01-31 12:00:00');
      const cases = Array.from({ length: 9999 }, (_, n) => ({ anchor, ...cadence, cycleNo: n + 1 }));
      expect(cases.map(({ cycleNo }) => dueAt(anchor, cadence, cycleNo))).toEqual(await byDatabase(cases));
    }
  });

  it('the first period is due at the anchor, each later one after the one before it', () => {
    fc.assert(
      fc.property(anyCase, ({ anchor, cycleNo, ...cadence }) => {
        expect(dueAt(anchor, cadence, 1)).toBe(anchor);
        expect(dueAt(anchor, cadence, cycleNo + 1)).toBeGreaterThan(dueAt(anchor, cadence, cycleNo));
      }),
    );
  });

  it('never drifts: the time of day stays, and the day is the anchor’s wherever the month has it', () => {
    fc.assert(
      fc.property(anyMonthEnd, ({ anchor, cycleNo, ...cadence }) => {
        const [day, time] = formatTime(anchor).slice(8).split(' ');
        const [dueDay, dueTime] = formatTime(dueAt(anchor, cadence, cycleNo))
          .slice(8)
          .split(' ');
        expect(dueTime).toBe(time);
        expect(Number(dueDay)).toBeLessThanOrEqual(Number(day));
        if (Number(day) <= 28) expect(dueDay).toBe(day);
      }),
    );
  });

  const monthly = { periodType: 'MONTH', period: 1 } as const;
  const diary = (anchor: string, cadence: { periodType: 'DAY' | 'MONTH'; period: number }, count: number) =>
    Array.from({ length: count }, (_, n) => formatTime(dueAt(at(anchor), cadence, n + 1)).slice(0, 10));

  it('31 January: 28 February, 31 March, 30 April; in a leap year 29 February', () => {
    expect(diary('2026-01-31 12:00:00', monthly, 4)).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']);
    expect(diary('2028-01-31 12:00:00', monthly, 3)).toEqual(['2028-01-31', '2028-02-29', '2028-03-31']);
    expect(diary('2096-11-30 00:00:00', { periodType: 'MONTH', period: 3 }, 3)).toEqual([
      '2096-11-30',
      '2097-02-28',
      '2097-05-30',
    ]);
  });

  it('29 February, yearly: 28 February until the next leap year', () => {
    expect(diary('2028-02-29 23:59:59', { periodType: 'MONTH', period: 12 }, 5)).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
  });

  it('days are the days of Asia/Shanghai: just after midnight there is the evening before in UTC', () => {
    expect(diary('2026-01-31 00:00:01', monthly, 2)).toEqual(['2026-01-31', '2026-02-28']);
    expect(diary('2026-02-28 23:59:59', { periodType: 'DAY', period: 1 }, 2)).toEqual(['2026-02-28', '2026-03-01']);
  });

  it('after the first period comes the second, or for an order of one its completion', () => {
    const order = { ...monthly, createdAt: at('2026-01-31 12:00:00') };
    expect(formatTime(nextStepAt({ ...order, totalCycles: 2 }))).toBe('2026-02-28 12:00:00');
    expect(nextStepAt({ ...order, totalCycles: 1 })).toBe(order.createdAt);
  });
});
