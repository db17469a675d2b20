import { setTimeout as delay } from 'node:timers/promises';

/** One kind of work without a known outcome: debits, refunds, claims or cancellations. */
export interface Recovery<One> {
  /** Leases some items that are due. If this node dies, another node takes them when the lease ends. */
  readonly lease: (limit: number) => Promise<readonly One[]>;
  /** Queries the institution or supplier, and stores the outcome or the time of the next query. */
  readonly finish: (one: One) => Promise<void>;
  /** Called if `finish` throws. The item is retried when its lease ends. */
  readonly onFailure: (one: One, error: unknown) => Promise<void>;
}

/** The maximum number of queries in flight from one node, for one kind of work and one payment channel or benefit. */
const MAX_IN_FLIGHT = 64;
/** Leases items only when this number of queries or more may begin, because each leasing statement is a commit. */
const MIN_LEASED_TOGETHER = 16;

/**
 * Finishes everything that is due at one institution or supplier, and returns the number of items. A query that hangs
 * delays no other query, and items that become due during the run are included. Begins no more items after `stopping`
 * returns true.
 */
export async function recoverAllDue<One>(
  { lease, finish, onFailure }: Recovery<One>,
  stopping: () => boolean = () => false,
): Promise<number> {
  const inFlight = new Set<Promise<void>>();
  let leased = 0;
  try {
    for (let isMore = true; isMore || inFlight.size > 0; ) {
      while (inFlight.size > MAX_IN_FLIGHT - MIN_LEASED_TOGETHER) await Promise.race(inFlight);
      const room = MAX_IN_FLIGHT - inFlight.size;
      const due = stopping() ? [] : await lease(room);
      for (const one of due) {
        const question: Promise<void> = finish(one)
          .catch((error: unknown) => onFailure(one, error))
          .finally(() => inFlight.delete(question));
        inFlight.add(question);
      }
      leased += due.length;
      isMore = due.length === room;
      if (!isMore) await Promise.race([Promise.all(inFlight), delay(1_000, undefined, { ref: false })]);
    }
  } finally {
    await Promise.all(inFlight);
  }
  return leased;
}
