/** What is still to happen, by time. What is put down for the same moment happens in the order in which it was put down. */
export interface Agenda {
  at(time: number, act: () => Promise<unknown>): void;
  /** Takes what comes first, if it comes before the end. */
  next(end: number): Entry | undefined;
}

export interface Entry {
  readonly time: number;
  readonly act: () => Promise<unknown>;
}

export function createAgenda(): Agenda {
  /** The last one comes first. */
  const entries: Entry[] = [];
  return {
    at(time, act) {
      let low = 0;
      let high = entries.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((entries[middle]?.time ?? 0) > time) low = middle + 1;
        else high = middle;
      }
      entries.splice(low, 0, { time, act });
    },
    next(end) {
      const first = entries.at(-1);
      if (!first || first.time > end) return undefined;
      return entries.pop();
    },
  };
}
