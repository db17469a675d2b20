const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const MAX_BODY_BYTES = 1_048_576;
/**
 * The maximum number of values in a body: objects, arrays, strings, numbers and others. The largest valid request has
 * 10,003 (an advance of 9,999 periods, each with an outcome); the rest is for unknown fields.
 */
export const MAX_BODY_VALUES = 12_000;
/** The maximum number of code points in a string field, whether plain text or ciphertext. */
export const MAX_STRING_LENGTH = 1024;

export const DEFAULT_PAGE = 1;
/**
 * The largest page number. It fits a 32-bit integer, and page * size fits a 64-bit integer. No list has so many pages.
 */
export const MAX_PAGE = 2_147_483_647;
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = MAX_PAGE_SIZE;

export const TIMESTAMP_SKEW_MS = 5 * MINUTE_MS;
export const NONCE_WINDOW_MS = 10 * MINUTE_MS;
export const IDEMPOTENCY_WINDOW_MS = 7 * DAY_MS;
export const TOKEN_LIFETIME_SECONDS = 7200;
/** The maximum number of hours for which a replaced app secret stays valid. */
export const MAX_OVERLAP_HOURS = 168;
/** The maximum number of days before a debit at which its notice is sent. */
export const MAX_NOTICE_DAYS = 30;
export const REDEEM_LIFETIME_SECONDS = 7 * 24 * 60 * 60;

/** The maximum number of periods of an order, because a sub-order number has four digits for cycleNo. */
export const MAX_TOTAL_CYCLES = 9_999;

export const WEBHOOK_TIMEOUT_MS = 5 * SECOND_MS;
/** The first entry is the delay before the first retry. After the last retry, the event is given up. */
export const WEBHOOK_RETRY_DELAYS_MS: readonly number[] = [
  30 * SECOND_MS,
  60 * SECOND_MS,
  120 * SECOND_MS,
  240 * SECOND_MS,
  480 * SECOND_MS,
  960 * SECOND_MS,
  1800 * SECOND_MS,
  1800 * SECOND_MS,
  1800 * SECOND_MS,
  1800 * SECOND_MS,
];
/** The maximum number of bytes that are read of a channel's answer to a push. */
export const WEBHOOK_MAX_RESPONSE_BYTES = 65_536;

/** Timeouts and retry delays that the documentation recommends to channels. */
export const CLIENT_CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
export const CLIENT_READ_TIMEOUT_MS = 15 * SECOND_MS;
export const CLIENT_FAULT_RETRY_DELAYS_MS: readonly number[] = [1 * SECOND_MS, 3 * SECOND_MS, 9 * SECOND_MS];
