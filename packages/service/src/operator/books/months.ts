import { formatTime, parseTime } from '@perennial/wire';
import type { TimeBounds } from '../../settlement/settlement-lines-sql.js';
import { type OperatorWithClock, refusal } from '../operator.js';
import { quoted } from '../rules.js';

const DAY_MS = 86_400_000;

/** Returns the bounds of a month (yyyy-MM) in Asia/Shanghai. Refuses the year 0. */
export function requireMonth(month: string): TimeBounds {
  const from = /^(?!0000)\d{4}-\d\d$/.test(month) ? parseTime(`${month}-01 00:00:00`) : undefined;
  // Refuses December 9999, because its end lies in a year with five digits, which the time format cannot express.
  if (from === undefined || month === '9999-12') {
    throw refusal('month-malformed')`the month must have the form 2026-01, not ${quoted(month)}`;
  }
  return { from, to: parseTime(`${monthAfter(month)}-01 00:00:00`) ?? from };
}

/**
 * Like `requireMonth`, but refuses future months, except in the sandbox, where time travel creates payments in the
 * future.
 */
export function requireBegunMonth(
  month: string,
  { clock, environment }: Pick<OperatorWithClock, 'clock' | 'environment'>,
): TimeBounds {
  const bounds = requireMonth(month);
  if (environment === 'production' && month > monthAt(clock.now())) {
    throw refusal('month-not-begun')`${month} has not begun yet in Asia/Shanghai`;
  }
  return bounds;
}

/** Returns the following month. The time 31 days after the first of a month is always in the next month. */
export function monthAfter(month: string): string {
  return monthAt((parseTime(`${month}-01 00:00:00`) ?? Number.NaN) + 31 * DAY_MS);
}

/** Returns the month (yyyy-MM) in Asia/Shanghai that contains the given time. */
export function monthAt(unixMs: number): string {
  return formatTime(unixMs).slice(0, 7);
}
