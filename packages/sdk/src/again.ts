import { CLIENT_FAULT_RETRY_DELAYS_MS, CODES } from '@perennial/wire';
import type { Answer, NoAnswer } from './exchange.js';

/** When the service does not say how long. */
const RATE_LIMITED_MS = 60_000;
/** What may be asked for in whole seconds and is over at once would only use up the tries. */
const SHORTEST_MS = 1_000;
/** A longer wait is the caller's to decide. */
const LONGEST_MS = 120_000;

/**
 * How long to wait before the same request is sent again; undefined when that would not help. `tries` is how often it was sent
 * before that counts, from 1.
 */
export function pauseAfter(outcome: Answer | NoAnswer, tries: number, retries: number): number | undefined {
  if (tries > retries) return undefined;
  const asked = outcome.retryAfterMs;
  if (isRateLimited(outcome)) return bounded(Math.max(asked ?? RATE_LIMITED_MS, SHORTEST_MS));
  if (!isPassing(outcome)) return undefined;
  return bounded(Math.max(asked ?? 0, CLIENT_FAULT_RETRY_DELAYS_MS[tries - 1] ?? 0));
}

/** The interface has the code in HTTP 200 as well. */
const isRateLimited = (outcome: Answer | NoAnswer): boolean =>
  outcome.httpStatus === 429 || (outcome.kind === 'answer' && outcome.code === CODES.RATE_LIMITED.code);

/** The token is no good: with another one the request may be sent at once. */
export const isTokenRefused = (outcome: Answer | NoAnswer): boolean =>
  outcome.kind === 'answer' && [CODES.TOKEN_INVALID.code, CODES.TOKEN_EXPIRED.code].includes(outcome.code);

function isPassing(outcome: Answer | NoAnswer): boolean {
  if ((outcome.httpStatus ?? 0) >= 500) return true;
  if (outcome.kind === 'no-answer') return outcome.reason !== 'unreadable-answer';
  // A nonce that was used before: something on the way, such as a browser, has sent the request twice by itself.
  return [CODES.IDEMPOTENCY_IN_PROGRESS.code, CODES.NONCE_REUSED.code].includes(outcome.code);
}

const bounded = (ms: number): number | undefined => (ms > LONGEST_MS ? undefined : ms);
