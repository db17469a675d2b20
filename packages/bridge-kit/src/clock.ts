/** The time in Unix milliseconds: passed in, so that a test can set it. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
