const UNKNOWN = { kind: 'unknown' } as const;

/**
 * Calls an institution and returns the outcome. If the call fails or takes too long, the outcome is unknown, because
 * the institution may have acted.
 */
export function withinDeadline<Outcome extends { readonly kind: string }>(
  call: () => Promise<Outcome>,
  deadlineMs: number,
): Promise<Outcome | typeof UNKNOWN> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(UNKNOWN), deadlineMs);
    const end = (outcome: Outcome | typeof UNKNOWN) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    call().then(end, () => end(UNKNOWN));
  });
}
