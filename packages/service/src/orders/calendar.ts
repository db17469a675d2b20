import type { PeriodType } from '@perennial/wire';

/** Asia/Shanghai has been eight hours ahead of UTC, without summer time, since 1991. */
const OFFSET_MS = 8 * 3_600_000;
const DAY_MS = 86_400_000;

export interface Cadence {
  readonly periodType: PeriodType;
  readonly period: number;
}

/**
 * When period `cycleNo` is due: always counted from the anchor, never from the period before, so that nothing drifts. A
 * day past the end of its month is the month's last (31 January, 28 February, 31 March). PostgreSQL's own interval
 * arithmetic in that time zone gives the same, and a test holds the two against each other.
 */
export function dueAt(anchor: number, { periodType, period }: Cadence, cycleNo: number): number {
  const steps = (cycleNo - 1) * period;
  if (steps === 0) return anchor;
  if (periodType === 'DAY') return anchor + steps * DAY_MS;
  const local = new Date(anchor + OFFSET_MS);
  const month = local.getUTCMonth() + steps;
  const lastDay = new Date(Date.UTC(local.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(local.getUTCDate(), lastDay);
  const timeOfDay = (anchor + OFFSET_MS) % DAY_MS;
  return Date.UTC(local.getUTCFullYear(), month, day) + timeOfDay - OFFSET_MS;
}

/** After the first period: the second one's time, or for an order of one its own, since completing it is then due. */
export function nextStepAt(order: Cadence & { readonly createdAt: number; readonly totalCycles: number }): number {
  return order.totalCycles > 1 ? dueAt(order.createdAt, order, 2) : order.createdAt;
}
