import { expect, it } from 'vitest';
import { neededPace, plotOf, simulate, summary } from '../../../../scripts/due-times.mjs';
import { periodDueAt } from '../../src/subscriptions/domain/orders/calendar.js';
import { DEFAULT_RETRY_DELAYS } from '../../src/subscriptions/domain/payments/debit-policy.js';

const SERVICE = { periodDueAt, retryDelays: DEFAULT_RETRY_DELAYS };
const FEW = { orders: 365_000, cells: 1, skew: 1, stepMinutes: 60 };
const JANUARY = 31;

it('renews every order once a month, and those of the 29th to the 31st on 28 February', () => {
  const { days, renewals, busiest } = summary(simulate({ ...FEW, campaigns: 0 }, SERVICE));
  expect(renewals).toBeCloseTo(12 * FEW.orders, 3);
  expect(busiest).toBe('2027-02-28');
  const average = renewals / days.length;
  expect((days[JANUARY + 27] ?? 0) / average).toBeGreaterThan(3);
  expect((days[JANUARY + 26] ?? 0) / average).toBeLessThan(1.5);
});

it('renews every daily order once a day', () => {
  const { days } = summary(simulate({ ...FEW, period: 'DAY' }, SERVICE));
  for (const renewals of days) expect(renewals).toBeCloseTo(FEW.orders, 3);
});

it('finishes each day within the hours of the payment channels at the needed pace, and not below it', () => {
  const pace = neededPace(FEW, SERVICE);
  expect(summary(simulate({ ...FEW, pace }, SERVICE)).daysWithRest).toBe(0);
  expect(summary(simulate({ ...FEW, pace: pace * 0.9 }, SERVICE)).daysWithRest).toBeGreaterThan(0);
});

it('has the same result for the same seed', () => {
  const plots = [1, 1, 2].map((seed) => plotOf(simulate({ ...FEW, seed }, SERVICE)));
  expect(plots[0]).toBe(plots[1]);
  expect(plots[0]).not.toBe(plots[2]);
});
