/**
 * Which events have been dealt with. An event may come more than once, up to 30 days later; several processes need one store
 * for all of them, such as a table with the id as its primary key:
 *
 *   remember: insert into seen_events (event_id) values ($1) on conflict do nothing; 'new' when a row was inserted
 *   forget:   delete from seen_events where event_id = $1
 */
export interface EventStore {
  /** Remembers the id, and says whether it was known before. */
  remember(eventId: string): Promise<'new' | 'known'>;
  /** The event could not be dealt with: when it comes again, it is new. */
  forget(eventId: string): Promise<void>;
}

/** In this process alone, until it ends. When there are too many, the oldest are forgotten. */
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
