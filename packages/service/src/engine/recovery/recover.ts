import { setTimeout as delay } from 'node:timers/promises';

/** A kind of thing that was begun at an institution or a supplier, and whose end nobody here has heard of yet. */
export interface Recovery<One> {
  /** Takes some that are due, for this node alone until a lease is over: should it die, another takes them then. */
  readonly lease: (limit: number) => Promise<readonly One[]>;
  /** Asks whoever knows, and writes down what became of it or when to ask again. */
  readonly finish: (one: One) => Promise<void>;
  /** Told when that throws. Its turn comes again when the lease is over. */
  readonly onFailure: (one: One, error: unknown) => Promise<void>;
}

/** Questions under way at one institution or supplier, from one node. */
const MAX_IN_FLIGHT = 64;
/** A claim waits until so many can go together: a claim is a commit. */
const MIN_LEASED_TOGETHER = 16;

/**
 * Finishes all that is due, at one institution or supplier. A question that hangs holds no other up: what falls due meanwhile
 * is asked about meanwhile. Once `stopping`, nothing more is claimed. How many were asked about.
 */
export async function recoverAllDue<One>(
  { lease: claim, finish, onFailure }: Recovery<One>,
  stopping: () => boolean = () => false,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  let claimed = 0;
  try {
    for (let isMore = true; isMore || underWay.size > 0; ) {
      while (underWay.size > MAX_IN_FLIGHT - MIN_LEASED_TOGETHER) await Promise.race(underWay);
      const room = MAX_IN_FLIGHT - underWay.size;
      const due = stopping() ? [] : await claim(room);
      for (const one of due) {
        const question: Promise<void> = finish(one)
          .catch((error: unknown) => onFailure(one, error))
          .finally(() => underWay.delete(question));
        underWay.add(question);
      }
      claimed += due.length;
      isMore = due.length === room;
      if (!isMore) await Promise.race([Promise.all(underWay), delay(1_000, undefined, { ref: false })]);
    }
  } finally {
    await Promise.all(underWay);
  }
  return claimed;
}
