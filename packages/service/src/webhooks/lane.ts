import { type DueEvent, type DuePosition, type EventKey, isBefore, justBefore, keyOf } from './due-sql.js';
import type { Message } from './message.js';

/** Keys in memory for one address. What is more stays in the database, and is read when there is room again. */
const MOST_QUEUED = 5_000;
/** Pushes under way to one address. */
const WIDTH = 8;
/** Messages that are looked through for one that may go, before waiting for those under way. */
const LOOK_AHEAD = 64;

/** One address of one channel: its events in the order of their time. A lane that does not move holds up no other. */
export interface Lane {
  readonly key: string;
  readonly channelId: number;
  readonly shard: number;
  /** Undefined: both kinds of events go to this address. */
  readonly isPayment: boolean | undefined;
  readonly url: string;
  /** The part of the address that is signed. */
  readonly path: string;
  /** Keys of the whole shard that are in memory: queued, under way, or over and not written down yet. */
  readonly known: Set<EventKey>;
  /** Keys that are not read in full yet. */
  queue: DueEvent[];
  /** More than fits is due, and is read from here on. */
  restAfter: DuePosition | undefined;
  /** The first that was left to that reading after it had begun. */
  leftSince: DuePosition | undefined;
  ready: Message[];
  /** Orders of which an event is being told for the first time: the next one is told after it. */
  readonly telling: Set<number>;
  underWay: number;
  isFilling: boolean;
  isWaiting: boolean;
  /** How often what it held was given back to the database. */
  emptied: number;
}

export function newLane(at: Pick<Lane, 'key' | 'channelId' | 'shard' | 'isPayment' | 'url' | 'known'>): Lane {
  return {
    ...at,
    path: new URL(at.url).pathname,
    queue: [],
    restAfter: undefined,
    leftSince: undefined,
    ready: [],
    telling: new Set(),
    underWay: 0,
    isFilling: false,
    isWaiting: false,
    emptied: 0,
  };
}

/**
 * Takes a key in, unless it is there already, or the lane is full: then the rest is read later, from here on. Until that is
 * done, whatever comes after it waits as well: it would be told before its turn.
 */
export function offer(lane: Lane, due: DueEvent): void {
  const key = keyOf(due);
  if (lane.known.has(key)) return;
  const isOfRest = lane.restAfter !== undefined && isBefore(lane.restAfter, due);
  if (isOfRest || lane.queue.length >= MOST_QUEUED) {
    const from = justBefore(due);
    if (!lane.restAfter || isBefore(from, lane.restAfter)) lane.restAfter = from;
    if (!lane.leftSince || isBefore(from, lane.leftSince)) lane.leftSince = from;
    return;
  }
  lane.known.add(key);
  lane.queue.push(due);
}

/** What was read of the rest. Less than asked for is all of it, but for what was left to it meanwhile. */
export function offerRest(lane: Lane, rows: readonly DueEvent[], isMore: boolean): void {
  const { leftSince } = lane;
  lane.restAfter = undefined;
  for (const row of rows) offer(lane, row);
  lane.restAfter ??= isMore ? rows.at(-1) : leftSince;
}

/** Nothing of it is in memory any more but what is under way: it is read again, for this address or another. */
export function empty(lane: Lane): void {
  for (const due of lane.queue) lane.known.delete(keyOf(due));
  for (const { due } of lane.ready) lane.known.delete(keyOf(due));
  lane.queue = [];
  lane.ready = [];
  lane.restAfter = undefined;
  lane.emptied += 1;
}

/** The next message that may be pushed now: events of one order are first told in their order. */
export function start(lane: Lane): Message | undefined {
  if (isFull(lane)) return undefined;
  let earlier: Set<number> | undefined;
  for (let index = 0; index < Math.min(lane.ready.length, LOOK_AHEAD); index += 1) {
    const message = lane.ready[index];
    if (!message) break;
    const { step, orderNo } = message.due;
    if (step === 0 && (lane.telling.has(orderNo) || earlier?.has(orderNo))) {
      earlier ??= new Set();
      earlier.add(orderNo);
      continue;
    }
    lane.ready.splice(index, 1);
    lane.underWay += 1;
    if (step === 0) lane.telling.add(orderNo);
    return message;
  }
  return undefined;
}

export function ended(lane: Lane, { due }: Message): void {
  lane.underWay -= 1;
  if (due.step === 0) lane.telling.delete(due.orderNo);
}

export const isFull = (lane: Lane) => lane.underWay >= WIDTH;

export const isIdle = (lane: Lane) =>
  lane.underWay === 0 &&
  lane.queue.length === 0 &&
  lane.ready.length === 0 &&
  lane.restAfter === undefined &&
  !lane.isFilling;
