/** Things that run out after the same time. */
export interface RunningOut<Item> {
  /** From now on. */
  add(item: Item): void;
  delete(item: Item): void;
}

/**
 * One timer for all of them, since nearly every one is over long before its time. They run out in the order in which they
 * were added, so the first one says when to look again. The timer keeps no process alive: what it watches does that.
 */
export function runningOut<Item>(ms: number, over: (item: Item) => void): RunningOut<Item> {
  const until = new Map<Item, number>();
  let isWatching = false;

  function watch(wait: number): void {
    isWatching = true;
    setTimeout(look, wait).unref();
  }

  /** Still watching until it knows how things stand: what is added meanwhile starts no timer of its own. */
  function look(): void {
    for (const [item, at] of until) {
      const left = at - performance.now();
      if (left > 0) {
        watch(Math.ceil(left));
        return;
      }
      until.delete(item);
      over(item);
    }
    isWatching = false;
  }

  return {
    add(item) {
      until.set(item, performance.now() + ms);
      if (!isWatching) watch(ms);
    },
    delete: (item) => void until.delete(item),
  };
}
