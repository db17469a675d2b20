/**
 * The processed events. An event may arrive more than once: up to 30 days later, and as long as the service keeps
 * events (180 days by default) if an operator replays them. Several processes need one shared store, such as a table
 * with the id as its primary key:
 *
 *   remember: insert into seen_events (event_id) values ($1) on conflict do nothing; 'new' if a row was inserted
 *   forget:   delete from seen_events where event_id = $1
 */
export interface EventStore {
  /** Stores the id. Returns 'known' if it was already stored. */
  remember(eventId: string): Promise<'new' | 'known'>;
  /** Removes the id, because processing failed: the next delivery of the event then counts as new. */
  forget(eventId: string): Promise<void>;
}

/** Creates a store in this process's memory. It keeps the latest `most` ids and drops older ids. */
export function createMemoryEventStore({ most = 100_000 }: { readonly most?: number } = {}): EventStore {
  const seen = new Set<string>();
  return {
    async remember(eventId) {
      if (seen.has(eventId)) return 'known';
      seen.add(eventId);
      for (const oldest of seen) {
        if (seen.size <= most) break;
        seen.delete(oldest);
      }
      return 'new';
    },
    async forget(eventId) {
      seen.delete(eventId);
    },
  };
}
