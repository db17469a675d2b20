/** Items that all expire after the same time, unless they are deleted before. */
export interface ExpiryQueue<Item> {
  /** Its time begins now. */
  add(item: Item): void;
  delete(item: Item): void;
}

/**
 * One timer for all items, since nearly every item is deleted long before its time. Items expire in the order in which they
 * were added, so the first one says when to look again. The timer keeps no process alive.
 */
export function createExpiryQueue<Item>(lifetimeMs: number, onExpired: (item: Item) => void): ExpiryQueue<Item> {
  const expiresAt = new Map<Item, number>();
  let isTimerSet = false;

  function setTimer(waitMs: number): void {
    isTimerSet = true;
    setTimeout(expireItems, waitMs).unref();
  }

  /** `isTimerSet` stays true until the end, so that an item that is added meanwhile starts no second timer. */
  function expireItems(): void {
    for (const [item, at] of expiresAt) {
      const remainingMs = at - performance.now();
      if (remainingMs > 0) {
        setTimer(Math.ceil(remainingMs));
        return;
      }
      expiresAt.delete(item);
      onExpired(item);
    }
    isTimerSet = false;
  }

  return {
    add(item) {
      expiresAt.set(item, performance.now() + lifetimeMs);
      if (!isTimerSet) setTimer(lifetimeMs);
    },
    delete: (item) => void expiresAt.delete(item),
  };
}
