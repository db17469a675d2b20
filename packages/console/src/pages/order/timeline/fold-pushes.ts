import type { TimelineEntry } from '../../../api/order-types.ts';

/** An entry with what belongs to it. */
export interface FoldedEntry extends TimelineEntry {
  /** Of an event: its pushes so far, the latest first. */
  readonly pushes: readonly TimelineEntry[];
  /** Of a push to come: the event. */
  readonly event?: TimelineEntry | undefined;
}

const eventIdOf = ({ data }: TimelineEntry): unknown =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>)['eventId'] : undefined;

/**
 * The pushes of an event stand under it: what happened to an order is one line, however often the channel was told. A push to come
 * stays where it is, and knows its event; so does one whose event is too old to be listed.
 */
export function foldPushes(timeline: readonly TimelineEntry[]): FoldedEntry[] {
  const events = new Map(timeline.filter(({ kind }) => kind === 'event').map((event) => [eventIdOf(event), event]));
  const eventOf = (entry: TimelineEntry) => (entry.kind === 'push' ? events.get(eventIdOf(entry)) : undefined);
  const pushesOf = new Map<TimelineEntry, TimelineEntry[]>([...events.values()].map((event) => [event, []]));
  const standing: TimelineEntry[] = [];
  for (const entry of timeline) {
    const event = entry.when === 'past' ? eventOf(entry) : undefined;
    if (event) pushesOf.get(event)?.push(entry);
    else standing.push(entry);
  }
  return standing.map((entry) => ({ ...entry, pushes: pushesOf.get(entry) ?? [], event: eventOf(entry) }));
}
