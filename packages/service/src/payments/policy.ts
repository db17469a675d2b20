/** What a debit gets before its outcome counts as unknown; a creation then answers PROCESSING. */
export const DEBIT_DEADLINE_MS = 8_000;

/** How long after its start an attempt is asked about for the first time, should nobody have heard of it. */
export const FIRST_ASK_SECONDS = 10;

/** Pauses before each further question; the last one repeats. */
const ASK_DELAYS_SECONDS = [30, 60, 300, 900, 3600];

export function nextAskSeconds(asked: number): number {
  return ASK_DELAYS_SECONDS[Math.min(Math.max(asked, 1), ASK_DELAYS_SECONDS.length) - 1] ?? 3600;
}

/** An outcome that is unknown for so long is an operator's business too. */
export const ALERT_AFTER_MS = 24 * 3_600_000;
