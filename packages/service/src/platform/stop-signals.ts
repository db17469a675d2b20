/** Stops the process gracefully at the first signal, and immediately at a second one. */
export function stopOnSignals(stopping: AbortController): void {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const at = performance.now();
      firstAt ??= at;
      // A second signal means that the operator is in a hurry. Stored data is safe even if the process ends
      // immediately.
      if (at - firstAt > SAME_SIGNAL_MS) process.exit(1);
      stopping.abort();
    });
  }
}

/**
 * Signals within this time count as one: Ctrl-C and supervisors signal the whole process group, and npm forwards its
 * signal too.
 */
const SAME_SIGNAL_MS = 1_000;
