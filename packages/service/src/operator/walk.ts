import type { Clock } from '../platform/clock.js';

/** So many rows that one more statement is worth its while, and at most so many in one. */
const MIN_ROWS = 50;
const MAX_ROWS = 20_000;

/** Some rows of a list, in its order. */
export interface Stretch<Found, Key> {
  readonly found: Found;
  /** How many rows were looked at, or minutes of what is due. */
  readonly walked: number;
  /** The last of them: where the next stretch begins. */
  readonly last: Key | undefined;
}

interface WalkOptions {
  readonly clock: Clock;
  /** Rows of the first stretch. */
  readonly first: number;
  /** How long somebody waits. */
  readonly waitMs: number;
}

/**
 * Reads a list in stretches, each of up to as many rows as it is told, until the list ends or no time is left: by how long the
 * one before took, each is as long as there is time for. So what is rare is looked for in many rows while they are in
 * memory, and in few when each has to be read from a disk.
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
    // The next rows may be further away than these were.
    const affordable = took === 0 ? MAX_ROWS : Math.floor((rows * left) / took / 2);
    if (isLast || left <= 0 || affordable < MIN_ROWS) return;
    rows = Math.min(Math.max(rows * 8, MIN_ROWS), MAX_ROWS, affordable);
  }
}
