/** Source of the time. Passed to code that depends on the time, so that tests can set the time. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Creates a check that returns true for at most `most` calls per second. */
export function createPerSecondLimit(most: number, clock: Clock): () => boolean {
  let second = 0;
  let times = 0;
  return () => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) times = 0;
    second = now;
    times += 1;
    return times <= most;
  };
}
