import { setTimeout as delay } from 'node:timers/promises';

/** How to recover one kind of work (debits, refunds, claims, cancellations) that was sent out and has no known outcome yet. */
export interface Recovery<One> {
  /** Takes some that are due. No other node gets them until the lease is over; if this node dies, another takes them then. */
  readonly lease: (limit: number) => Promise<readonly One[]>;
  /** Asks the institution or supplier, and stores the outcome or when to ask again. */
  readonly finish: (one: One) => Promise<void>;
  /** Called when `finish` throws. It is tried again when the lease is over. */
  readonly onFailure: (one: One, error: unknown) => Promise<void>;
}

/** Questions that one node has running at one institution or supplier. */
const MAX_IN_FLIGHT = 64;
/** A statement waits until it may take this many: each is a commit. */
const MIN_LEASED_TOGETHER = 16;

/**
 * Finishes all that is due at one institution or supplier, and returns how many. A question that hangs delays no other: what
 * becomes due meanwhile is asked about too. Once `stopping` is true, nothing more is taken.
 */
export async function recoverAllDue<One>(
  { lease, finish, onFailure }: Recovery<One>,
  stopping: () => boolean = () => false,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  let leased = 0;
  try {
    for (let isMore = true; isMore || underWay.size > 0; ) {
      while (underWay.size > MAX_IN_FLIGHT - MIN_LEASED_TOGETHER) await Promise.race(underWay);
      const room = MAX_IN_FLIGHT - underWay.size;
      const due = stopping() ? [] : await lease(room);
      for (const one of due) {
        const question: Promise<void> = finish(one)
          .catch((error: unknown) => onFailure(one, error))
          .finally(() => underWay.delete(question));
        underWay.add(question);
      }
      leased += due.length;
      isMore = due.length === room;
      if (!isMore) await Promise.race([Promise.all(underWay), delay(1_000, undefined, { ref: false })]);
    }
  } finally {
    await Promise.all(underWay);
  }
  return leased;
}
