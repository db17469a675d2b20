import type { PeriodType } from '@perennial/wire';
import type { DebitOutcome } from '../../../gateways/gateway.js';

/** How long a debit is waited for. After that its outcome is unknown, and orders/create answers PROCESSING. */
export const DEBIT_DEADLINE_MS = 8_000;

/** When an attempt without a known outcome is first asked about, in seconds after its start. */
export const FIRST_ASK_SECONDS = 10;

/**
 * How long a renewal that was started belongs to the node that started it. Longer than a debit and its settlement can take, and
 * short enough that other nodes continue within 20 s what a dead node has started.
 */
export const RENEWAL_LEASE_SECONDS = 18;

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Of a product that is made without delays of its own: when a renewal that failed for now is tried again, in seconds after the try before. */
export const DEFAULT_RETRY_DELAYS: Readonly<Record<PeriodType, readonly number[]>> = {
  DAY: [1 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  MONTH: [1 * DAY, 3 * DAY, 5 * DAY, 7 * DAY],
};

/** An attempt's number has two digits for its try. */
export const MAX_TRIES = 99;

/** Pauses before each further question to the institution; the last one repeats. */
const ASK_DELAYS_SECONDS = [30, 60, 300, 900, 3600];

export function nextAskSeconds(asked: number): number {
  return ASK_DELAYS_SECONDS[Math.min(Math.max(asked, 1), ASK_DELAYS_SECONDS.length) - 1] ?? 3600;
}

/** An institution may name the time of its result, but no later than this. */
const MAX_NAMED_ASK_SECONDS = 3600;

/** Seconds until the time that the institution has named, 0 when it has passed. Undefined when it has named none. */
export function askSecondsNamedBy(outcome: DebitOutcome, now: number): number | undefined {
  if (outcome.kind !== 'pending' || outcome.askAt === undefined) return undefined;
  return Math.min(Math.max(0, (outcome.askAt - now) / 1000), MAX_NAMED_ASK_SECONDS);
}

/**
 * How long after the end of its order a debit that the institution has never seen is sure never to arrive there. By
 * docs/bridge.md that takes ten minutes from the last send, which may have been shortly after the end.
 */
export const UNSEEN_IS_FINAL_AFTER_MS = 11 * 60_000;

/** When an outcome has been unknown for this long, operators get an alert. */
export const UNKNOWN_ALERT_AFTER_MS = 24 * 3_600_000;
