import type { TimelineEntry } from '../../../api/order-types.ts';

/** A timeline entry, with other entries that are shown with it. */
export interface FoldedEntry extends TimelineEntry {
  /** If the entry is an event, its past pushes, latest first. If it is a push, the earlier ones of unlisted events. */
  readonly pushes: readonly TimelineEntry[];
  /** If the entry is a push, the event that is pushed. */
  readonly event?: TimelineEntry | undefined;
  /** If the entry is the next push, the pushes planned after it, latest first. */
  readonly later?: readonly FoldedEntry[];
}

const eventIdOf = ({ data }: TimelineEntry): unknown =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>)['eventId'] : undefined;

/**
 * Moves past pushes under their event, so that each change of an order is one line. Moves past pushes whose event is too
 * old to be listed under the latest of them. Future pushes stay separate entries.
 */
export function foldPushes(timeline: readonly TimelineEntry[]): FoldedEntry[] {
  const events = new Map(timeline.filter(({ kind }) => kind === 'event').map((event) => [eventIdOf(event), event]));
  const eventOf = (entry: TimelineEntry) => (entry.kind === 'push' ? events.get(eventIdOf(entry)) : undefined);
  const pushesOf = new Map<TimelineEntry, TimelineEntry[]>([...events.values()].map((event) => [event, []]));
  const isPastPush = ({ kind, when }: TimelineEntry) => kind === 'push' && when === 'past';
  const unlisted = timeline.find((entry) => isPastPush(entry) && !eventOf(entry));
  if (unlisted) pushesOf.set(unlisted, []);
  const standing: TimelineEntry[] = [];
  for (const entry of timeline) {
    const under = isPastPush(entry) && entry !== unlisted ? (eventOf(entry) ?? unlisted) : undefined;
    if (under) pushesOf.get(under)?.push(entry);
    else standing.push(entry);
  }
  return standing.map((entry) => ({ ...entry, pushes: pushesOf.get(entry) ?? [], event: eventOf(entry) }));
}

/**
 * Moves the planned pushes under the next one. An order whose channel cannot be reached has a planned push for each
 * event, and they differ only in the event.
 */
export function foldPlannedPushes(planned: readonly FoldedEntry[]): FoldedEntry[] {
  const pushes = planned.filter(({ kind }) => kind === 'push');
  const next = pushes.at(-1);
  return planned.flatMap((entry) =>
    entry === next ? { ...entry, later: pushes.slice(0, -1) } : entry.kind === 'push' ? [] : entry,
  );
}
