/** Attempts with other numbers after a number was taken: one for each batch in flight. */
export const MAX_NUMBER_TRIES = 5;

/**
 * Fetches the numbers of a sequence in batches, so that a row's number is known before it is stored, mostly without a
 * statement. Numbers left at a restart are never used.
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
    /** Drops the whole batch of a used number, because its other numbers may be used too. */
    dropBatchOf(number: number): void {
      if (held.includes(number)) held = [];
    },
  };
}

export type NumberSupply = ReturnType<typeof createNumberSupply>;
