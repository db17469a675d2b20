/** Every decision that depends on the time takes a clock, so that a test can say what time it is. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
