const UNKNOWN = { kind: 'unknown' } as const;

/**
 * The outcome of a call to an institution. When the call fails or takes too long it is unknown: the institution may have
 * acted.
 */
export function withinDeadline<Outcome extends { readonly kind: string }>(
  call: () => Promise<Outcome>,
  deadlineMs: number,
): Promise<Outcome | typeof UNKNOWN> {
<<<<<<< HEAD
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(UNKNOWN), deadlineMs);
    const end = (outcome: Outcome | typeof UNKNOWN) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    call().then(end, () => end(UNKNOWN));
  });
=======
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof UNKNOWN>((resolve) => {
    timer = setTimeout(() => resolve(UNKNOWN), deadlineMs);
  });
  try {
    return await Promise.race([call().catch(() => UNKNOWN), late]);
  } finally {
    clearTimeout(timer);
  }
>>>>>>> create17
}
