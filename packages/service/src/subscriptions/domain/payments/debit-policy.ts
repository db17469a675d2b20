import type { DebitOutcome } from '../../../gateways/gateway.js';

/** What a debit gets before its outcome counts as unknown; a creation then answers PROCESSING. */
export const DEBIT_DEADLINE_MS = 8_000;

/** How long after its start an attempt is asked about for the first time, should nobody have heard of it. */
export const FIRST_ASK_SECONDS = 10;

/**
 * How long a renewal that was started belongs to the node that started it. Longer than a debit may take and its settlement
 * after it, and short enough that what a dead node has left is taken up within 20 s.
 */
export const RENEWAL_LEASE_SECONDS = 18;

/** An attempt's number has two digits for its try. */
export const MAX_TRIES = 99;

/** Pauses before each further question; the last one repeats. */
const ASK_DELAYS_SECONDS = [30, 60, 300, 900, 3600];

export function nextAskSeconds(asked: number): number {
  return ASK_DELAYS_SECONDS[Math.min(Math.max(asked, 1), ASK_DELAYS_SECONDS.length) - 1] ?? 3600;
}

/** An institution may name the time of its result, within reason. */
const MAX_NAMED_ASK_SECONDS = 3600;

/** Seconds until the time that the institution has named, none when it has passed; nothing when there is none. */
export function askSecondsNamedBy(outcome: DebitOutcome, now: number): number | undefined {
  if (outcome.kind !== 'pending' || outcome.askAt === undefined) return undefined;
  return Math.min(Math.max(0, (outcome.askAt - now) / 1000), MAX_NAMED_ASK_SECONDS);
}

/**
 * So long after an order has ended, a debit of it that the institution has never seen will not turn up there any more: by
 * docs/bridge.md ten minutes after it was last sent, and that may have been a moment after the end.
 */
export const UNSEEN_IS_FINAL_AFTER_MS = 11 * 60_000;

/** An outcome that is unknown for so long is an operator's business too. */
export const UNKNOWN_ALERT_AFTER_MS = 24 * 3_600_000;
