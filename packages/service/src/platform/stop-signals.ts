/** Stops the process in order at the first signal, and immediately at a later one. */
export function stopOnSignals(stopping: AbortController): void {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const at = performance.now();
      firstAt ??= at;
      // A second request is urgent. Stored data is safe either way.
      if (at - firstAt > SAME_SIGNAL_MS) process.exit(1);
      stopping.abort();
    });
  }
}

/**
 * Signals within this time count as one request, because Ctrl-C and supervisors signal the whole process group, and npm
 * forwards its signal too.
 */
const SAME_SIGNAL_MS = 1_000;
