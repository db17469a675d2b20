import type { PeriodType } from '@perennial/wire';
import { addByCalendar } from '../../../platform/db/time-sql.js';

/** Asia/Shanghai is eight hours ahead of UTC, and has had no summer time since 1991. */
const OFFSET_MS = 8 * 3_600_000;
const DAY_MS = 86_400_000;

export interface Cadence {
  readonly periodType: PeriodType;
  readonly period: number;
}

/**
 * Returns the due time of period `cycleNo`. Counts from the anchor, not from the previous period, so that the day of
 * the month does not drift. If a month lacks the day, its last day is used (31 January, 28 February, 31 March).
 */
export function periodDueAt(anchor: number, { periodType, period }: Cadence, cycleNo: number): number {
  const units = (cycleNo - 1) * period;
  if (units === 0) return anchor;
  if (periodType === 'DAY') return anchor + units * DAY_MS;
  if (anchor !== lastAnchor.anchor) lastAnchor = { anchor, ...shanghaiDateOf(anchor) };
  const months = lastAnchor.month + units;
  const year = lastAnchor.year + Math.floor(months / 12);
  const month = months % 12;
  return Date.UTC(year, month, Math.min(lastAnchor.day, daysInMonth(year, month))) + lastAnchor.timeOfDay - OFFSET_MS;
}

/**
 * SQL: the time `count` periods after the creation of the order named `o`, by the rule of `periodDueAt`. For statements
 * that advance thousands of orders. A test compares this SQL with `periodDueAt`.
 */
export const afterPeriodsSql = (count: string, o: string) =>
  addByCalendar(
    `${o}.created_at`,
    `case ${o}.period_type when 'DAY' then make_interval(days => ${o}.period * (${count}))
     else make_interval(months => ${o}.period * (${count})) end`,
  );

/**
 * The anchor of the previous call, with its date. Cached, because the periods of one order are computed one after
 * another.
 */
let lastAnchor = { anchor: 0, ...shanghaiDateOf(0) };

function shanghaiDateOf(anchor: number) {
  const local = new Date(anchor + OFFSET_MS);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    timeOfDay: (anchor + OFFSET_MS) % DAY_MS,
  };
}

function daysInMonth(year: number, month: number): number {
  if (month === 1) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31;
}

/** Returns the due time of the second period. An order with a single period is due immediately, to be completed. */
export function dueAfterFirstPeriod(
  order: Cadence & { readonly createdAt: number; readonly totalCycles: number },
): number {
  return order.totalCycles > 1 ? periodDueAt(order.createdAt, order, 2) : order.createdAt;
}
