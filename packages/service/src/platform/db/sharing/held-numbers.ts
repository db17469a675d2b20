/**
 * Numbers of a sequence that a node holds, so that a row's number is known before the row is stored, and mostly without asking.
 * What is left of them at a restart is never used.
 */
export interface HeldNumbers {
  next(): Promise<number>;
  /** This one turned out to be used already: those that came with it may be too, and are dropped. */
  wasTaken(number: number): void;
}

/** How often something is given another number, should those that a node holds be taken: once for each batch under way. */
export const MOST_NUMBERS = 5;

export function heldNumbers(fetchSome: () => Promise<readonly number[]>): HeldNumbers {
  let held: readonly number[] = [];
  let used = 0;
  let fetching: Promise<void> | undefined;
  const fetch = async () => {
    held = await fetchSome();
    used = 0;
  };
  return {
    async next() {
      for (;;) {
        const number = held[used];
        used += 1;
        if (number !== undefined) return number;
        fetching ??= fetch().finally(() => {
          fetching = undefined;
        });
        await fetching;
      }
    },
    wasTaken(number) {
      if (held.includes(number)) held = [];
    },
  };
}
