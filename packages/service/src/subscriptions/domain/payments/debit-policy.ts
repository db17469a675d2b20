import type { PeriodType } from '@perennial/wire';
import type { DebitOutcome } from '../../../gateways/gateway.js';

/**
 * The timeout of a debit or a refund, and of a query about a debit or a refund. After it, the outcome counts as
 * unknown, and orders/create answers that the period is PROCESSING.
 */
export const DEBIT_DEADLINE_MS = 8_000;

/** Seconds until the first query about a debit or claim whose outcome is unknown. */
export const FIRST_ASK_SECONDS = 10;

/**
 * The lease of a renewal that was started. Longer than a debit and its settlement can take, and short enough that
 * another node continues a dead node's renewals within 20 s.
 */
export const RENEWAL_LEASE_SECONDS = 18;

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Seconds from each failed attempt of a renewal to the next attempt, for products that define no delays. */
export const DEFAULT_RETRY_DELAYS: Readonly<Record<PeriodType, readonly number[]>> = {
  DAY: [1 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  MONTH: [1 * DAY, 3 * DAY, 5 * DAY, 7 * DAY],
};

/** The maximum number of attempts per period, because an attempt number has two digits for the attempt. */
export const MAX_TRIES = 99;

/** Seconds before each further query to an institution or a supplier of benefits. The last value repeats. */
const ASK_DELAYS_SECONDS = [30, 60, 300, 900, 3600];

export function nextAskSeconds(asked: number): number {
  return ASK_DELAYS_SECONDS[Math.min(Math.max(asked, 1), ASK_DELAYS_SECONDS.length) - 1] ?? 3600;
}

/** The maximum time until the next query, if the institution names that time itself. */
const MAX_NAMED_ASK_SECONDS = 3600;

/**
 * Returns the seconds until the query time that the institution named, at most MAX_NAMED_ASK_SECONDS. 0 if that time
 * has passed, undefined if it named none.
 */
export function askSecondsNamedBy(outcome: DebitOutcome, now: number): number | undefined {
  if (outcome.kind !== 'pending' || outcome.askAt === undefined) return undefined;
  return Math.min(Math.max(0, (outcome.askAt - now) / 1000), MAX_NAMED_ASK_SECONDS);
}

/**
 * When the order ended this long ago, a debit that the institution does not know counts as failed, because it can no
 * longer reach the institution. docs/bridge.md allows ten minutes from the last send. The last send may have happened
 * shortly after the order's end.
 */
export const UNSEEN_IS_FINAL_AFTER_MS = 11 * 60_000;

/** Operators get an alert if an outcome stays unknown for this time. */
export const UNKNOWN_ALERT_AFTER_MS = 24 * 3_600_000;
