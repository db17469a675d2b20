import type { EventKey } from '../queue/due-sql.js';

/** Knows which events were finished while due events are being read: the rows may be older than that, and still show them. */
export class ReadsInProgress {
  private readonly finishedSince = new Set<Set<EventKey>>();

  /** Whatever is finished while `read` runs is in the set that `read` is given. */
  async run<T>(read: (finished: ReadonlySet<EventKey>) => Promise<T>): Promise<T> {
    const finished = new Set<EventKey>();
    this.finishedSince.add(finished);
    try {
      return await read(finished);
    } finally {
      this.finishedSince.delete(finished);
    }
  }

  addFinished(key: EventKey): void {
    for (const finished of this.finishedSince) finished.add(key);
  }
}
