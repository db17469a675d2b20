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

/** Keys in memory for one address. More than these stay in the database, and are read when there is room again. */
const MAX_QUEUED = 5_000;
/** Pushes under way to one address. */
const MAX_UNDER_WAY = 8;

export interface LaneOptions {
  readonly key: string;
  readonly channelId: number;
  readonly shard: number;
  /** The types of events that go to this address. */
  readonly typeNos: readonly number[];
  readonly url: string;
  /** The keys of the whole shard that are in memory: queued, under way, or finished and not written yet. */
  readonly known: Set<EventKey>;
}

/**
 * The events that go to one address of one channel, in the order of their time. A lane whose receiver does not answer delays
 * no other lane.
 *
 * An event passes through it as a key in the queue, then as a message that is ready, then as a push under way. Its key is in
 * `known` all that time.
 */
export class Lane {
  readonly key: string;
  readonly channelId: number;
  readonly shard: number;
  readonly typeNos: readonly number[];
  readonly url: string;
  /** The part of the address that is signed. */
  readonly path: string;
  /** A page of its events is being read in full. */
  isLoading = false;
  /** It is in the list of lanes that have something to push. */
  isAwaitingTurn = false;
  /** How often it was cleared: what was read before that is not put into it any more. */
  timesCleared = 0;

  private readonly known: Set<EventKey>;
  private readonly sequence = new OrderSequence();
  /** Keys that are not read in full yet. */
  private queue: DueEvent[] = [];
  private ready: Message[] = [];
  private underWay = 0;
  /** More is due than fits: what comes after this position is read from the database by the lane itself. */
  private restAfter: DuePosition | undefined;
  /** The earliest position that was deferred since the last of those reads began. */
  private deferredSinceRead: DuePosition | undefined;

  constructor({ key, channelId, shard, typeNos, url, known }: LaneOptions) {
    this.key = key;
    this.channelId = channelId;
    this.shard = shard;
    this.typeNos = typeNos;
    this.url = url;
    this.path = new URL(url).pathname;
    this.known = known;
  }

  /**
   * Takes a key in, unless it is in memory already. When the lane is full it is deferred to the database, and so is everything
   * that comes after it until that has been read: it would be pushed too early.
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

  /** Takes keys in before everything that is queued: they are parts of what was the first of it. */
  offerFirst(parts: readonly DueEvent[]): void {
    const queued = this.queue;
    this.queue = [];
    for (const part of parts) this.offer(part);
    this.queue.push(...queued);
  }

  /** What comes after this position is read by the lane itself, when it has room. */
  deferToDatabase(after: DuePosition): void {
    this.restAfter = earlierOf(this.restAfter, after);
    this.deferredSinceRead = earlierOf(this.deferredSinceRead, after);
  }

  hasRest(): boolean {
    return this.restAfter !== undefined;
  }

  /** Where to read on in the database; undefined when there is nothing to read. */
  beginReadingRest(): DuePosition | undefined {
    if (this.restAfter) this.deferredSinceRead = undefined;
    return this.restAfter;
  }

  /** What was read of the rest. `isMore`: the page was full. */
  offerRest(rows: readonly DueEvent[], isMore: boolean): void {
    const deferredMeanwhile = this.deferredSinceRead;
    this.restAfter = undefined;
    for (const row of rows) this.offer(row);
    const next = isMore ? rows.at(-1) : undefined;
    this.restAfter = earlierOf(this.restAfter, earlierOf(next, deferredMeanwhile));
  }

  /**
   * The next keys to be read in full. Those of an order that has enough in memory are kept back, so that other orders come.
   * A range goes alone, so that no more of it becomes rows than can be pushed soon.
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

  /** Whether its next events should be read in full. */
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

  /** The next message that may be pushed now; its push counts as begun. */
  takeNext(): Message | undefined {
    if (this.isFull()) return undefined;
    for (let message = this.ready.shift(); message; message = this.ready.shift()) {
      if (!this.sequence.tryBegin(message)) continue;
      this.underWay += 1;
      return message;
    }
    return undefined;
  }

  pushFinished({ due }: Message): void {
    this.underWay -= 1;
    const { message, keys } = this.sequence.finish(due);
    // Before what is ready and queued: everything else of the order that is there comes after it.
    if (message) this.ready.unshift(message);
    if (keys && keys.length > 0) this.queue = [...keys, ...this.queue];
  }

  /** Forgets everything but what is under way. All of it is in the database, and is read again from there. */
  clear(): void {
    const dropped = [...this.queue, ...this.ready.map(({ due }) => due), ...this.sequence.clear()];
    for (const due of dropped) this.known.delete(keyOf(due));
    this.queue = [];
    this.ready = [];
    this.restAfter = undefined;
    this.timesCleared += 1;
  }

  isFull(): boolean {
    return this.underWay >= MAX_UNDER_WAY;
  }

  isIdle(): boolean {
    return (
      this.underWay === 0 && this.queue.length === 0 && this.ready.length === 0 && !this.hasRest() && !this.isLoading
    );
  }

  /** How many of its events wait, and where: for tests. */
  counts(): Readonly<Record<'queued' | 'ready' | 'waiting' | 'deferred', number>> {
    return { queued: this.queue.length, ready: this.ready.length, ...this.sequence.counts() };
  }

  /** The kinds of events that go through it. */
  kinds(): number[] {
    return this.typeNos.map((typeNo) => kindOf({ channelId: this.channelId, typeNo }));
  }
}

function earlierOf(one: DuePosition | undefined, other: DuePosition | undefined): DuePosition | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(other, one) ? other : one;
}
