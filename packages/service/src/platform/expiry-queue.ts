import { LinkedList, type Place } from './linked-list.js';

export type Expiring<Item> = Place<{ readonly item: Item; readonly at: number }>;

/**
 * Expires items after a fixed time, unless they are deleted before. All items share one timer, because nearly all are
 * deleted early. Items expire in the order in which they were added, so the timer is set for the first item. The timer
 * does not keep the process alive.
 */
export function createExpiryQueue<Item>(lifetimeMs: number, onExpired: (item: Item) => void) {
  const waiting = new LinkedList<{ readonly item: Item; readonly at: number }>();
  let isTimerSet = false;

  function setTimer(waitMs: number): void {
    isTimerSet = true;
    setTimeout(expireItems, waitMs).unref();
  }

  /**
   * Leaves `isTimerSet` true until all expired items are handled, so that an item added by `onExpired` does not start a
   * second timer.
   */
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
    /** Adds an item. Its lifetime begins now. */
    add(item: Item): Expiring<Item> {
      const expiring = waiting.append({ item, at: performance.now() + lifetimeMs });
      if (!isTimerSet) setTimer(lifetimeMs);
      return expiring;
    },
    delete: (expiring: Expiring<Item>): void => waiting.remove(expiring),
  };
}

export type ExpiryQueue<Item> = ReturnType<typeof createExpiryQueue<Item>>;
