import { setTimeout as delay } from 'node:timers/promises';

const UNKNOWN = { kind: 'unknown' } as const;

/**
 * The outcome of a call to an institution. When the call fails or takes too long it is unknown: the institution may have
 * acted.
 */
export async function withinDeadline<Outcome extends { readonly kind: string }>(
  call: () => Promise<Outcome>,
  deadlineMs: number,
): Promise<Outcome | typeof UNKNOWN> {
  const over = new AbortController();
  const late = delay(deadlineMs, UNKNOWN, { signal: over.signal }).catch(() => UNKNOWN);
  try {
    return await Promise.race([call().catch(() => UNKNOWN), late]);
  } finally {
    over.abort();
  }
}
