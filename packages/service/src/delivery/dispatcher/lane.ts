import {
  type DueEvent,
  type DuePosition,
  type EventKey,
  isBefore,
  justBefore,
  keyOf,
  kindOf,
} from '../queue/due-sql.js';
import type { Message } from '../receivers/message.js';
import { OrderSequence } from './order-sequence.js';

/** The number of queued keys at which further keys stay in the database until there is room. */
const MAX_QUEUED = 5_000;

export interface LaneOptions {
  readonly key: string;
  readonly channelId: number;
  readonly shard: number;
  /** The types of events that are sent to this address. */
  readonly typeNos: readonly number[];
  readonly url: string;
  /** The keys of all events of the shard that are in memory: queued, in flight, or finished but not yet stored. */
  readonly known: Set<EventKey>;
  /** The maximum number of pushes in flight. */
  readonly maxPushes: number;
}

/**
 * The events for one address of one channel, in the order of their times. A receiver that does not answer delays only
 * its own lane.
 *
 * An event is first a key in the queue, then a message that is ready to send, then a push in flight. In all three
 * stages its key is in `known`.
 */
export class Lane {
  readonly key: string;
  readonly channelId: number;
  readonly shard: number;
  readonly typeNos: readonly number[];
  readonly url: string;
  /** The URL's path, which is part of the signature. */
  readonly path: string;
  /** True while the contents of the lane's next events are being read. */
  isLoading = false;
  /** True while the lane is in the push loop's list. */
  isAwaitingTurn = false;
  /** The number of calls of `clear`. Rows are discarded if `clear` was called while they were being read. */
  timesCleared = 0;

  private readonly known: Set<EventKey>;
  private readonly maxPushes: number;
  private readonly sequence = new OrderSequence();
  /** Keys of events that are not yet read in full. */
  private queue: DueEvent[] = [];
  private ready: Message[] = [];
  private inFlight = 0;
  /** The position from which the lane must read its events from the database. Undefined if it has read all. */
  private restAfter: DuePosition | undefined;
  /** The earliest position that was deferred to the database since the lane last began to read from `restAfter`. */
  private deferredSinceRead: DuePosition | undefined;

  constructor({ key, channelId, shard, typeNos, url, known, maxPushes }: LaneOptions) {
    this.key = key;
    this.channelId = channelId;
    this.shard = shard;
    this.typeNos = typeNos;
    this.url = url;
    this.path = new URL(url).pathname;
    this.known = known;
    this.maxPushes = maxPushes;
  }

  /**
   * Queues a key unless it is in memory already. A full lane defers the key to the database. All later keys are then
   * deferred too, until the lane has read the deferred key. Otherwise they would overtake the deferred key.
   */
  offer(due: DueEvent): void {
    const key = keyOf(due);
    if (this.known.has(key)) return;
    const isAfterDeferred = this.restAfter !== undefined && isBefore(this.restAfter, due);
    if (isAfterDeferred || this.queue.length >= MAX_QUEUED) {
      this.deferToDatabase(justBefore(due));
      return;
    }
    this.known.add(key);
    this.queue.push(due);
  }

  /** Queues the periods of an expanded range before all other keys, because the range was first in the queue. */
  offerFirst(parts: readonly DueEvent[]): void {
    const queued = this.queue;
    this.queue = [];
    for (const part of parts) this.offer(part);
    this.queue.push(...queued);
  }

  /** Makes the lane read the events after this position from the database when it has room. */
  deferToDatabase(after: DuePosition): void {
    this.restAfter = earlierOf(this.restAfter, after);
    this.deferredSinceRead = earlierOf(this.deferredSinceRead, after);
  }

  hasRest(): boolean {
    return this.restAfter !== undefined;
  }

  /**
   * Begins to read the deferred events. Returns the position from which to read, or undefined if no events are
   * deferred.
   */
  beginReadingRest(): DuePosition | undefined {
    if (this.restAfter) this.deferredSinceRead = undefined;
    return this.restAfter;
  }

  /** Queues the rows that were read from `restAfter`. `isMore`: the page was full. */
  offerRest(rows: readonly DueEvent[], isMore: boolean): void {
    const deferredMeanwhile = this.deferredSinceRead;
    this.restAfter = undefined;
    for (const row of rows) this.offer(row);
    const next = isMore ? rows.at(-1) : undefined;
    this.restAfter = earlierOf(this.restAfter, earlierOf(next, deferredMeanwhile));
  }

  /**
   * Takes the next keys to read in full. Defers a key if its order has enough messages in memory, so that other orders
   * get a turn. A key that stands for a range of periods is taken alone, so that it expands into no more rows than can
   * be pushed soon.
   */
  takeKeys(max: number): DueEvent[] {
    const taken: DueEvent[] = [];
    let passed = 0;
    for (const due of this.queue) {
      const isRange = due.cycleTo !== null;
      const isDeferred = this.sequence.tryDefer(due);
      if (!isDeferred && (taken.length === max || (isRange && taken.length > 0))) break;
      passed += 1;
      if (isDeferred) continue;
      taken.push(due);
      if (isRange) break;
    }
    this.queue.splice(0, passed);
    return taken;
  }

  addReady(message: Message): void {
    this.ready.push(message);
  }

  needsLoading(pageSize: number): boolean {
    return (
      !this.isLoading &&
      this.ready.length <= pageSize / 2 &&
      this.sequence.hasRoom() &&
      (this.queue.length > 0 || this.hasRest())
    );
  }

  hasQueued(count: number): boolean {
    return this.queue.length >= count;
  }

  /** Returns the next message whose push can begin now, and counts the push as in flight. */
  takeNext(): Message | undefined {
    if (this.isFull()) return undefined;
    for (let message = this.ready.shift(); message; message = this.ready.shift()) {
      if (!this.sequence.tryBegin(message)) continue;
      this.inFlight += 1;
      return message;
    }
    return undefined;
  }

  pushFinished({ due }: Message): void {
    this.inFlight -= 1;
    const { message, keys } = this.sequence.finish(due);
    // The order's next message goes to the front of the lane, because the order's other events come after it.
    if (message) this.ready.unshift(message);
    if (keys && keys.length > 0) this.queue = [...keys, ...this.queue];
  }

  /** Drops all events except the pushes in flight. The lane must read the dropped events again from the database. */
  clear(): void {
    const dropped = [...this.queue, ...this.ready.map(({ due }) => due), ...this.sequence.clear()];
    for (const due of dropped) this.known.delete(keyOf(due));
    this.queue = [];
    this.ready = [];
    this.restAfter = undefined;
    this.timesCleared += 1;
  }

  isFull(): boolean {
    return this.inFlight >= this.maxPushes;
  }

  isIdle(): boolean {
    return (
      this.inFlight === 0 && this.queue.length === 0 && this.ready.length === 0 && !this.hasRest() && !this.isLoading
    );
  }

  /** Returns the number of events at each stage, for tests. */
  counts(): Readonly<Record<'queued' | 'ready' | 'waiting' | 'deferred', number>> {
    return { queued: this.queue.length, ready: this.ready.length, ...this.sequence.counts() };
  }

  /** The kinds of events that are sent through this lane. */
  kinds(): number[] {
    return this.typeNos.map((typeNo) => kindOf({ channelId: this.channelId, typeNo }));
  }
}

function earlierOf(one: DuePosition | undefined, other: DuePosition | undefined): DuePosition | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(other, one) ? other : one;
}
