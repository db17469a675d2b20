import { LinkedList, type Place } from './linked-list.js';

export type Expiring<Item> = Place<{ readonly item: Item; readonly at: number }>;

/**
 * Items that all expire after the same time, unless they are deleted before. One timer for all items, since nearly every
 * item is deleted long before its time. Items expire in the order in which they were added, so the first one says when to
 * look again. The timer keeps no process alive.
 */
export function createExpiryQueue<Item>(lifetimeMs: number, onExpired: (item: Item) => void) {
  const waiting = new LinkedList<{ readonly item: Item; readonly at: number }>();
  let isTimerSet = false;

  function setTimer(waitMs: number): void {
    isTimerSet = true;
    setTimeout(expireItems, waitMs).unref();
  }

  /** `isTimerSet` stays true until the end, so that an item that is added meanwhile starts no second timer. */
  function expireItems(): void {
    for (let next = waiting.first; next; next = waiting.first) {
      const remainingMs = next.at - performance.now();
      if (remainingMs > 0) {
        setTimer(Math.ceil(remainingMs));
        return;
      }
      waiting.removeFirst();
      try {
        onExpired(next.item);
      } catch (error) {
        setTimer(0);
        throw error;
      }
    }
    isTimerSet = false;
  }

  return {
    /** Its time begins now. */
    add(item: Item): Expiring<Item> {
      const expiring = waiting.append({ item, at: performance.now() + lifetimeMs });
      if (!isTimerSet) setTimer(lifetimeMs);
      return expiring;
    },
    delete: (expiring: Expiring<Item>): void => waiting.remove(expiring),
  };
}

export type ExpiryQueue<Item> = ReturnType<typeof createExpiryQueue<Item>>;
