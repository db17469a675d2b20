/** How often work is repeated with another number when its number is taken: once for each batch under way. */
export const MAX_NUMBER_TRIES = 5;

/**
 * Numbers of a sequence, fetched in batches, so that the number of a row is known before the row is stored, mostly without a
 * statement. Numbers that are left at a restart are never used.
 */
export function createNumberSupply(fetchBatch: () => Promise<readonly number[]>) {
  let held: readonly number[] = [];
  let used = 0;
  let fetching: Promise<void> | undefined;
  const fetch = async () => {
    held = await fetchBatch();
    used = 0;
  };
  return {
    async next(): Promise<number> {
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
    /** This number is used already. The others of its batch may be too, so all of them are dropped. */
    dropBatchOf(number: number): void {
      if (held.includes(number)) held = [];
    },
  };
}

export type NumberSupply = ReturnType<typeof createNumberSupply>;
