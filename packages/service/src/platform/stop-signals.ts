/** The first signal stops the process in good order; a later one ends it at once. */
export function stopOnSignals(stopping: AbortController): void {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const at = performance.now();
      firstAt ??= at;
      // A second request means that it is urgent. Whatever is stored is safe either way.
      if (at - firstAt > SAME_SIGNAL_MS) process.exit(1);
      stopping.abort();
    });
  }
}

/**
 * One request to stop arrives several times: Ctrl-C and supervisors tell the whole group of processes, and npm, which is one of
 * them, passes on what it hears.
 */
const SAME_SIGNAL_MS = 1_000;
