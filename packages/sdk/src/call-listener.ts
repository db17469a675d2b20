/** Calls a caller's listener and ignores its failures, immediate or later. */
export function callListener(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => undefined);
  } catch {
    // Ignored.
  }
}
