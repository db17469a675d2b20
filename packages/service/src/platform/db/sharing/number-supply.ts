/** The maximum number of retries with a new number if the number of a creation is taken. */
export const MAX_NUMBER_TRIES = 5;

/**
 * Fetches the numbers of a sequence in batches. So a row's number is known before the row is stored, and usually no
 * statement is needed to get it. Numbers that are left over at a restart are never used.
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
    /** Drops the whole batch of a number that is already taken, because the batch's other numbers may be taken too. */
    dropBatchOf(number: number): void {
      if (held.includes(number)) held = [];
    },
  };
}

export type NumberSupply = ReturnType<typeof createNumberSupply>;
