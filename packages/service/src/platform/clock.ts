/** Every decision that depends on the time takes a clock, so that a test can say what time it is. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Creates a check that is true for at most `most` calls in each second. */
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
