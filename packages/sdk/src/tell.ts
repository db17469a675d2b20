/** Calls a listener of the caller's. That it fails, at once or later, is no failure of what it is told about. */
export function tell(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => undefined);
  } catch {
    // There is nobody left to tell.
  }
}
