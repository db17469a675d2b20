import { WEBHOOK_MAX_RESPONSE_BYTES, WEBHOOK_RETRY_DELAYS_MS, WEBHOOK_TIMEOUT_MS } from '@perennial/wire';

/** Seconds between a failed push and its retry, for retries 1 to 10. */
export const PUSH_RETRY_DELAYS_SECONDS: readonly number[] = WEBHOOK_RETRY_DELAYS_MS.map((ms) => ms / 1000);

/** The time limit of one push: DNS, connection, TLS, request and answer together. */
export const PUSH_DEADLINE_MS = WEBHOOK_TIMEOUT_MS;

/** The maximum number of bytes that are read of an answer. */
export const MAX_ANSWER_BYTES = WEBHOOK_MAX_RESPONSE_BYTES;
