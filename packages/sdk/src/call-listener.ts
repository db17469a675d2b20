/** Calls a listener of the SDK's user. Ignores its errors, whether it throws or its promise rejects. */
export function callListener(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => undefined);
  } catch {
    // Ignored.
  }
}
