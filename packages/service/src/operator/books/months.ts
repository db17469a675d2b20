import { formatTime, parseTime } from '@perennial/wire';
import type { TimeBounds } from '../../settlement/settlement-lines-sql.js';
import { refusal } from '../operator.js';
import { quoted } from '../rules.js';

const DAY_MS = 86_400_000;

/** The bounds of a month of Asia/Shanghai, yyyy-MM. */
export function requireMonth(month: string): TimeBounds {
  const from = /^\d{4}-\d\d$/.test(month) ? parseTime(`${month}-01 00:00:00`) : undefined;
  // Years have four digits, so there is no month after December 9999.
  if (from === undefined || month === '9999-12') {
    throw refusal('month-malformed')`the month must be one such as 2026-01, not ${quoted(month)}`;
  }
  return { from, to: parseTime(`${monthAfter(month)}-01 00:00:00`) ?? from };
}

/** 31 days after the first of any month is a day of the next. */
export function monthAfter(month: string): string {
  return monthAt((parseTime(`${month}-01 00:00:00`) ?? Number.NaN) + 31 * DAY_MS);
}

/** The month of Asia/Shanghai in which a moment is. */
export function monthAt(unixMs: number): string {
  return formatTime(unixMs).slice(0, 7);
}
