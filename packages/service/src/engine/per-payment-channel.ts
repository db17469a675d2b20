/**
 * Runs a job for each payment channel, one run of it at a time, each at its own speed: an institution that hangs holds up
 * nobody else.
 */
export function perPaymentChannel<Channel extends { readonly code: string }>(
  codes: () => Promise<readonly Channel[]>,
  job: (channel: Channel) => Promise<unknown>,
  onError: (error: unknown, code: string) => void,
) {
  const running = new Map<string, Promise<unknown>>();
  return {
    /** Begins what is not still running. */
    async turn(): Promise<void> {
      for (const channel of await codes()) {
        const { code } = channel;
        if (running.has(code)) continue;
        const run = job(channel)
          .catch((error: unknown) => onError(error, code))
          .finally(() => running.delete(code));
        running.set(code, run);
      }
    },
    async ended(): Promise<void> {
      await Promise.all(running.values());
    },
  };
}
