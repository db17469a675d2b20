/**
 * Runs a job for each payment channel, or for each benefit with a supplier. Each payment channel or benefit has its own
 * run and at most one run at a time, so that an institution or supplier that hangs does not delay the others.
 */
export function createRunsPerCode<Item extends { readonly code: string }>(
  items: () => Promise<readonly Item[]>,
  job: (item: Item) => Promise<unknown>,
  onError: (error: unknown, code: string) => void,
) {
  const running = new Map<string, Promise<unknown>>();
  return {
    /** Starts a run for each code that has no run in progress. */
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
