/** Seconds after a push that failed, before the next one: retries 1 to 10. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [30, 60, 120, 240, 480, 960, 1800, 1800, 1800, 1800];

/** What one push gets: name, connection, TLS, request and answer together. */
export const DEADLINE_MS = 5_000;

/** Of an answer, no more is read. */
export const MOST_ANSWER_BYTES = 64 * 1024;
