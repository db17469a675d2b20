import type { FieldFailureCount } from './field-failures-sql.js';

/** The limit per minute and channel, for all nodes together. docs/decisions/0013-personal-data.md has the reasons. */
export const MAX_FIELD_FAILURES = 20;
const MINUTE_MS = 60_000;

/**
 * This node's count of a channel's unreadable fields in the current minute. A failure on this node counts before it is
 * stored, because requests that arrive together are all decrypted before the first failure is stored. The node reads
 * the count of all nodes each time it stores a failure.
 */
export class FieldFailures {
  #failures = 0;
  /** Infinite until the first failure was counted. */
  #endsAt = Number.POSITIVE_INFINITY;

  get tooMany(): boolean {
    return this.#failures >= MAX_FIELD_FAILURES;
  }

  add(): void {
    this.#failures += 1;
  }

  /** Sets the count to 0 when the minute is over. */
  forgetEndedMinute(now: number): void {
    // If the clock was set back, the end of the minute must not be more than a minute away.
    this.#endsAt = this.#endsAt === Number.POSITIVE_INFINITY ? this.#endsAt : Math.min(this.#endsAt, now + MINUTE_MS);
    if (now < this.#endsAt) return;
    this.#failures = 0;
    this.#endsAt = Number.POSITIVE_INFINITY;
  }

  /** Sets the end of the minute on this node, so that the minute ends even if the database never answers. */
  startMinute(now: number): void {
    this.#endsAt = Math.min(this.#endsAt, now + MINUTE_MS);
  }

  setCount({ failures, secondsLeft }: FieldFailureCount, now: number): void {
    this.#failures = Math.max(this.#failures, failures);
    this.#endsAt = now + secondsLeft * 1000;
  }

  secondsLeft(now: number): number {
    return Math.max(1, Math.ceil(Math.min(this.#endsAt - now, MINUTE_MS) / 1000));
  }
}
