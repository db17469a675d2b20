import type { Clock } from '../platform/clock.js';

/** Limits of the number of rows that one statement scans. Below MIN_ROWS, a statement is not worth its fixed cost. */
const MIN_ROWS = 50;
const MAX_ROWS = 20_000;

/** Consecutive rows of a list that one statement has scanned. */
export interface Stretch<Found, Key> {
  readonly found: Found;
  /**
   * The number of rows that the statement scanned. The due orders of one channel are read in windows of time. For these
   * orders `walked` is the length of the window in minutes. `walked` is less than requested at the end of the list.
   */
  readonly walked: number;
  /** The key of the last row, after which the next stretch begins. */
  readonly last: Key | undefined;
}

interface WalkOptions {
  readonly clock: Clock;
  /** The length of the first stretch, as a number of rows or minutes, like `walked`. */
  readonly first: number;
  /** The time limit. */
  readonly waitMs: number;
}

/**
 * Reads a list in stretches until it ends or the time is over. The speed of a stretch determines the length of the next
 * stretch. A search for rare matches thus scans many rows if the rows are cached, and few rows if they are read from
 * disk.
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
    // Plans only half of the rows that the time would allow, because the next rows may be slower to read.
    const affordable = took === 0 ? MAX_ROWS : Math.floor((rows * left) / took / 2);
    if (isLast || left <= 0 || affordable < MIN_ROWS) return;
    rows = Math.min(Math.max(rows * 8, MIN_ROWS), MAX_ROWS, affordable);
  }
}
