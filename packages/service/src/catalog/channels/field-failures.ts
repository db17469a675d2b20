import type { FieldFailureCount } from './field-failures-sql.js';

/** In a minute, of one channel, over all nodes. docs/decisions/0013-personal-data.md says what that is worth. */
export const MAX_FIELD_FAILURES = 20;
const MINUTE_MS = 60_000;

/**
 * What this node knows of the minute in which encrypted fields of a channel could not be read. Its own failures count here
 * the moment they happen, before the database has heard of them: requests that came together are read in one go. Those of
 * other nodes are learnt when this one counts one of its own.
 */
export class FieldFailures {
  #failures = 0;
  /** Unknown until the first failure has been dealt with. */
  #endsAt = Number.POSITIVE_INFINITY;

  get tooMany(): boolean {
    return this.#failures >= MAX_FIELD_FAILURES;
  }

  add(): void {
    this.#failures += 1;
  }

  /** A minute that is over is forgotten. */
  forgetEndedMinute(now: number): void {
    // A clock that was set back must not make the minute longer.
    this.#endsAt = this.#endsAt === Number.POSITIVE_INFINITY ? this.#endsAt : Math.min(this.#endsAt, now + MINUTE_MS);
    if (now < this.#endsAt) return;
    this.#failures = 0;
    this.#endsAt = Number.POSITIVE_INFINITY;
  }

  /** The minute ends, even if the database never says when. */
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
