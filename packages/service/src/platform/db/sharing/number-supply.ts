/**
 * Numbers of a sequence that a node holds, so that a row's number is known before the row is stored, and mostly without asking.
 * What is left of them at a restart is never used.
 */
export interface NumberSupply {
  next(): Promise<number>;
  /** This one turned out to be used already: those that came with it may be too, and are dropped. */
  dropBatchOf(number: number): void;
}

/** How often something is given another number, should those that a node holds be taken: once for each batch under way. */
export const MAX_NUMBER_TRIES = 5;

export function createNumberSupply(fetchBatch: () => Promise<readonly number[]>): NumberSupply {
  let held: readonly number[] = [];
  let used = 0;
  let fetching: Promise<void> | undefined;
  const fetch = async () => {
    held = await fetchBatch();
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
    dropBatchOf(number) {
      if (held.includes(number)) held = [];
    },
  };
}
