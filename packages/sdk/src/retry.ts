import { CLIENT_FAULT_RETRY_DELAYS_MS, CODES } from '@perennial/wire';
import type { Answer, NoAnswer } from './exchange.js';

/** The delay after a rate limit, if the service does not say how long to wait. */
const RATE_LIMITED_MS = 60_000;
/** The shortest delay after a rate limit. Retry-After can be 0, and an immediate retry would only waste an attempt. */
const SHORTEST_MS = 1_000;
/** If the service asks for a longer delay, the SDK does not retry: the caller decides. */
const LONGEST_MS = 120_000;

/** Returns the delay before a retry, or undefined if there must be no retry. `tries` counts the attempts so far. */
export function retryDelayAfter(outcome: Answer | NoAnswer, tries: number, retries: number): number | undefined {
  if (tries > retries) return undefined;
  const asked = outcome.retryAfterMs;
  if (isRateLimited(outcome)) return bounded(Math.max(asked ?? RATE_LIMITED_MS, SHORTEST_MS));
  if (!isPassing(outcome)) return undefined;
  return bounded(Math.max(asked ?? 0, CLIENT_FAULT_RETRY_DELAYS_MS[tries - 1] ?? 0));
}

/** Returns true for HTTP 429, and for result code 429001 with any HTTP status. */
const isRateLimited = (outcome: Answer | NoAnswer): boolean =>
  outcome.httpStatus === 429 || (outcome.kind === 'answer' && outcome.code === CODES.RATE_LIMITED.code);

/** Returns true if the service refused the token. The request can be sent again at once with a new token. */
export const isTokenRefused = (outcome: Answer | NoAnswer): boolean =>
  outcome.kind === 'answer' && [CODES.TOKEN_INVALID.code, CODES.TOKEN_EXPIRED.code].includes(outcome.code);

function isPassing(outcome: Answer | NoAnswer): boolean {
  if ((outcome.httpStatus ?? 0) >= 500) return true;
  if (outcome.kind === 'no-answer') return outcome.reason !== 'unreadable-answer';
  // A reused nonce is retried too: something on the way, such as a browser, has sent the request twice.
  return [CODES.IDEMPOTENCY_IN_PROGRESS.code, CODES.NONCE_REUSED.code].includes(outcome.code);
}

const bounded = (ms: number): number | undefined => (ms > LONGEST_MS ? undefined : ms);
