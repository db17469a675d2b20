import { WEBHOOK_MAX_RESPONSE_BYTES, WEBHOOK_RETRY_DELAYS_MS, WEBHOOK_TIMEOUT_MS } from '@perennial/wire';

/** Seconds after a push that failed, before the next one: retries 1 to 10. */
export const PUSH_RETRY_DELAYS_SECONDS: readonly number[] = WEBHOOK_RETRY_DELAYS_MS.map((ms) => ms / 1000);

/** The time of one push: name, connection, TLS, request and answer together. */
export const PUSH_DEADLINE_MS = WEBHOOK_TIMEOUT_MS;

/** No more than this is read of an answer. */
export const MAX_ANSWER_BYTES = WEBHOOK_MAX_RESPONSE_BYTES;
