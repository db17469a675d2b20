import { formatTime, parseTime } from '@perennial/wire';
import type { TimeBounds } from '../../settlement/settlement-lines-sql.js';
import { type OperatorWithClock, refusal } from '../operator.js';
import { quoted } from '../rules.js';

const DAY_MS = 86_400_000;

/** The bounds of a month of Asia/Shanghai, yyyy-MM. There is no year 0. */
export function requireMonth(month: string): TimeBounds {
  const from = /^(?!0000)\d{4}-\d\d$/.test(month) ? parseTime(`${month}-01 00:00:00`) : undefined;
  // Years have four digits, so there is no month after December 9999.
  if (from === undefined || month === '9999-12') {
    throw refusal('month-malformed')`the month must be one such as 2026-01, not ${quoted(month)}`;
  }
  return { from, to: parseTime(`${monthAfter(month)}-01 00:00:00`) ?? from };
}

/** The same of a month that is looked at: it has begun, but in the sandbox, where time travel fills future months. */
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

/** 31 days after the first of any month is a day of the next. */
export function monthAfter(month: string): string {
  return monthAt((parseTime(`${month}-01 00:00:00`) ?? Number.NaN) + 31 * DAY_MS);
}

/** The month of Asia/Shanghai in which a moment is. */
export function monthAt(unixMs: number): string {
  return formatTime(unixMs).slice(0, 7);
}
