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

/** Keys in memory for one address. What is more stays in the database, and is read when there is room again. */
const MOST_QUEUED = 5_000;
/** Pushes under way to one address. */
const WIDTH = 8;
/** Messages of one order that wait for the one before them: with so many, what follows them is set aside unread. */
const ENOUGH_OF_AN_ORDER = 32;
/** Keys set aside: with so many, nothing more is read for this address. More than two orders of the longest kind have. */
const MOST_ASIDE = 20_000;

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
  /** What comes after it, by order: out of the way of the other orders. */
  readonly parked: Map<number, Message[]>;
  /** And what comes after those: keys alone, not read in full yet. */
  readonly aside: Map<number, DueEvent[]>;
  asideCount: number;
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
    parked: new Map(),
    aside: new Map(),
    asideCount: 0,
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
    leave(lane, justBefore(due));
    return;
  }
  lane.known.add(key);
  lane.queue.push(due);
}

/** Before everything that waits: parts of what was the first of it. */
export function offerFirst(lane: Lane, parts: readonly DueEvent[]): void {
  const waiting = lane.queue;
  lane.queue = [];
  for (const part of parts) offer(lane, part);
  lane.queue.push(...waiting);
}

/** What comes after this position is read by the lane itself, when it has room. */
export function leave(lane: Lane, from: DuePosition): void {
  lane.restAfter = earliest(lane.restAfter, from);
  lane.leftSince = earliest(lane.leftSince, from);
}

/** What was read of the rest. Less than asked for is all of it, but for what was left to it meanwhile. */
export function offerRest(lane: Lane, rows: readonly DueEvent[], isMore: boolean): void {
  const { leftSince } = lane;
  lane.restAfter = undefined;
  for (const row of rows) offer(lane, row);
  const next = isMore ? rows.at(-1) : undefined;
  lane.restAfter = earliest(lane.restAfter, earliest(next, leftSince));
}

function earliest(one: DuePosition | undefined, other: DuePosition | undefined): DuePosition | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(other, one) ? other : one;
}

/**
 * The next keys to be read in full. Those of an order that has enough in memory are set aside, so that the others come. A
 * range goes alone, so that no more of it becomes rows than can be sent soon.
 */
export function take(lane: Lane, most: number): DueEvent[] {
  const taken: DueEvent[] = [];
  let looked = 0;
  for (const due of lane.queue) {
    const isRange = due.cycleTo !== null;
    const isLater = isToWait(lane, due);
    if (!isLater && (taken.length === most || (isRange && taken.length > 0))) break;
    looked += 1;
    if (isLater) setAside(lane, due);
    else taken.push(due);
    if (isRange && !isLater) break;
  }
  lane.queue.splice(0, looked);
  return taken;
}

function isToWait(lane: Lane, { step, orderNo }: DueEvent): boolean {
  if (step > 0 || lane.parked.size === 0) return false;
  return lane.aside.has(orderNo) || (lane.parked.get(orderNo)?.length ?? 0) >= ENOUGH_OF_AN_ORDER;
}

function setAside(lane: Lane, due: DueEvent): void {
  const keys = lane.aside.get(due.orderNo);
  if (keys) keys.push(due);
  else lane.aside.set(due.orderNo, [due]);
  lane.asideCount += 1;
}

export const hasRoom = (lane: Lane) => lane.asideCount < MOST_ASIDE;

/** Nothing of it is in memory any more but what is under way: it is read again, for this address or another. */
export function empty(lane: Lane): void {
  for (const due of lane.queue) lane.known.delete(keyOf(due));
  for (const due of [...lane.aside.values()].flat()) lane.known.delete(keyOf(due));
  for (const { due } of [lane.ready, ...lane.parked.values()].flat()) lane.known.delete(keyOf(due));
  lane.queue = [];
  lane.ready = [];
  lane.parked.clear();
  lane.aside.clear();
  lane.asideCount = 0;
  lane.restAfter = undefined;
  lane.emptied += 1;
}

/** The next message that may be pushed now: events of one order are first told in their order. */
export function start(lane: Lane): Message | undefined {
  if (isFull(lane)) return undefined;
  for (let message = lane.ready.shift(); message; message = lane.ready.shift()) {
    const { step, orderNo } = message.due;
    if (step === 0 && lane.telling.has(orderNo)) {
      park(lane, message);
      continue;
    }
    lane.underWay += 1;
    if (step === 0) lane.telling.add(orderNo);
    return message;
  }
  return undefined;
}

function park(lane: Lane, message: Message): void {
  const { orderNo } = message.due;
  const parked = lane.parked.get(orderNo);
  if (parked) parked.push(message);
  else lane.parked.set(orderNo, [message]);
}

export function ended(lane: Lane, { due }: Message): void {
  lane.underWay -= 1;
  if (due.step > 0) return;
  const { orderNo } = due;
  lane.telling.delete(orderNo);
  const parked = lane.parked.get(orderNo);
  const next = parked?.shift();
  if (!next) return;
  // In front of what is ready: whatever else of the order is there comes after it.
  lane.ready.unshift(next);
  if (parked?.length === 0) bringBack(lane, orderNo);
}

function bringBack(lane: Lane, orderNo: number): void {
  lane.parked.delete(orderNo);
  const keys = lane.aside.get(orderNo);
  if (!keys) return;
  lane.aside.delete(orderNo);
  lane.asideCount -= keys.length;
  lane.queue = [...keys, ...lane.queue];
}

export const isFull = (lane: Lane) => lane.underWay >= WIDTH;

export const isIdle = (lane: Lane) =>
  lane.underWay === 0 &&
  lane.queue.length === 0 &&
  lane.ready.length === 0 &&
  lane.restAfter === undefined &&
  !lane.isFilling;

/** The kinds of events that go through it. */
export const kindsOf = ({ channelId, isPayment }: Lane): number[] =>
  (isPayment === undefined ? [true, false] : [isPayment]).map((one) => kindOf({ channelId, isPayment: one }));
