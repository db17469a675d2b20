import type { EventKey } from '../queue/due-sql.js';

/** Records events that are finished during a read of due events, because the read may still return them as due. */
export class ReadsInProgress {
  private readonly finishedSince = new Set<Set<EventKey>>();

  /** While `read` runs, adds every finished event to the set that `read` receives. */
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
