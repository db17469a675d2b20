/**
 * Runs a job for each payment channel, or each benefit with a supplier, one run at a time per code. An institution or
 * supplier that hangs delays no other.
 */
export function createRunsPerCode<Item extends { readonly code: string }>(
  items: () => Promise<readonly Item[]>,
  job: (item: Item) => Promise<unknown>,
  onError: (error: unknown, code: string) => void,
) {
  const running = new Map<string, Promise<unknown>>();
  return {
    /** Starts a run for each code without one. */
    async startRuns(): Promise<void> {
      for (const item of await items()) {
        const { code } = item;
        if (running.has(code)) continue;
        const run = job(item)
          .catch((error: unknown) => onError(error, code))
          .finally(() => running.delete(code));
        running.set(code, run);
      }
    },
    async finished(): Promise<void> {
      await Promise.all(running.values());
    },
  };
}
