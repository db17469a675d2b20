/**
 * Runs a job for each payment channel, or each benefit with a supplier, one run of it at a time, each at its own speed: an
 * institution or a supplier that hangs holds up nobody else.
 */
export function createRunsPerCode<Item extends { readonly code: string }>(
  items: () => Promise<readonly Item[]>,
  job: (item: Item) => Promise<unknown>,
  onError: (error: unknown, code: string) => void,
) {
  const running = new Map<string, Promise<unknown>>();
  return {
    /** Begins what is not still running. */
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
