/** A worker that has lived so long is not one that cannot live. */
const LONG_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * How long a worker's place stays empty. The first time not at all; for one that ends again and again, soon after its start, each time
 * twice as long: starting takes a second of CPU, which the others need.
 */
export function pauseBefore(soon: number, livedMs: number): { readonly ms: number; readonly soon: number } {
  if (livedMs >= LONG_MS) return { ms: 0, soon: 1 };
  return { ms: soon === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (soon - 1), LONGEST_PAUSE_MS), soon: soon + 1 };
}
