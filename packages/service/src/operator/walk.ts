import type { Clock } from '../platform/clock.js';

/** Limits of rows per statement. Fewer are not worth a statement. */
const MIN_ROWS = 50;
const MAX_ROWS = 20_000;

/** A run of consecutive rows of a list. */
export interface Stretch<Found, Key> {
  readonly found: Found;
  /** The number of rows scanned, or of minutes for due orders. */
  readonly walked: number;
  /** The last row, where the next stretch begins. */
  readonly last: Key | undefined;
}

interface WalkOptions {
  readonly clock: Clock;
  /** Rows of the first stretch. */
  readonly first: number;
  /** The time limit. */
  readonly waitMs: number;
}

/**
 * Reads a list in stretches until it ends or the time is over. The length of each stretch follows from the speed of the
 * one before, so rare matches are searched in many rows if these are cached, and in few if they are read from disk.
 */
export async function* walkInStretches<One extends { readonly walked: number }>(
  { clock, first, waitMs }: WalkOptions,
  read: (rows: number) => Promise<One>,
): AsyncGenerator<One & { readonly isLast: boolean }> {
  const startedAt = clock.now();
  let rows = first;
  for (;;) {
    const began = clock.now();
    const stretch = await read(rows);
    const took = clock.now() - began;
    const isLast = stretch.walked < rows;
    yield { ...stretch, isLast };
    const left = startedAt + waitMs - clock.now();
    // Half of the estimate, because the next rows may be slower to read.
    const affordable = took === 0 ? MAX_ROWS : Math.floor((rows * left) / took / 2);
    if (isLast || left <= 0 || affordable < MIN_ROWS) return;
    rows = Math.min(Math.max(rows * 8, MIN_ROWS), MAX_ROWS, affordable);
  }
}
