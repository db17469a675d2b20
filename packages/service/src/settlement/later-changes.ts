import type { ClosedChannelMonth } from './closed-months-sql.js';
import type { SummedMonth } from './settlement-lines-sql.js';
import { addSums, addToSums, areZero, type Sums, subtractSums, ZERO_SUMS } from './sums.js';

/** Changes by channel, then by the closed month that has changed. */
export type LaterChanges = ReadonlyMap<string, Readonly<Record<string, Sums>>>;

/**
 * Returns the changes in the closed `months` that are not yet booked in another month: the sums of their lines now,
 * minus the sums at the closing, minus the changes already booked in later closed months. Does not search by time of
 * writing, so it cannot miss a line that was written while a month was being closed. `closed` may also contain months
 * that are not in `months`.
 */
export function findLaterChanges(
  now: readonly SummedMonth[],
  closed: readonly ClosedChannelMonth[],
  months: readonly string[],
): LaterChanges {
  const asked = new Set(months);
  const open = new Map<string, Map<string, Sums>>();
  const change = (channelId: string, month: string, by: (sums: Sums) => Sums) => {
    if (!asked.has(month)) return;
    const sums = open.get(channelId) ?? new Map<string, Sums>();
    open.set(channelId, sums);
    sums.set(month, by(sums.get(month) ?? ZERO_SUMS));
  };
  for (const { channelId, month, kind, cents, count } of now) {
    change(channelId, month, (sums) => addToSums(sums, kind, cents, count));
  }
  for (const { channelId, month, figures } of closed) {
    for (const product of figures.products) change(channelId, month, (sums) => subtractSums(sums, product));
    for (const [earlier, taken] of Object.entries(figures.later)) {
      change(channelId, earlier, (sums) => subtractSums(sums, taken));
    }
  }
  return new Map(
    [...open].map(([channelId, months]) => [
      channelId,
      Object.fromEntries([...months].filter(([, sums]) => !areZero(sums)).toSorted()),
    ]),
  );
}

/** Adds up the changes that one month books for earlier months. */
export function sumLater(later: Readonly<Record<string, Sums>> | undefined): Sums {
  return Object.values(later ?? {}).reduce(addSums, ZERO_SUMS);
}
