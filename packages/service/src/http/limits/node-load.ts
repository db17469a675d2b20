import type { Socket } from 'node:net';
import type { Caller } from '../../platform/db/sharing/caller.js';
import { NodeBusy } from '../answers/respond.js';

export interface LoadLimits {
  /** The maximum time in ms that serving all requests on this node may take, estimated from the measured rate. */
  readonly backlogMs: number;
  /** No request is refused while fewer requests than this are on the node. */
  readonly alwaysAllowed: number;
  /** No request is refused while fewer requests than this are on the node and the rate is unknown. */
  readonly unmeasured: number;
  /** The maximum time for which a caller waits until its request begins. */
  readonly patienceMs: number;
}

const DEFAULT_LIMITS: LoadLimits = { backlogMs: 800, alwaysAllowed: 50, unmeasured: 500, patienceMs: 2_000 };

/** A request on this node, and the caller that waits for its answer. */
export interface TakenRequest extends Caller {
  /** Marks the request as authenticated and admitted. Only such requests count for the measured rate. */
  markAdmitted(): void;
  /** May be called twice. */
  leave(): void;
}

const TICK_MS = 250;
const TICKS_PER_SECOND = 1_000 / TICK_MS;
/**
 * The rate is computed from the latest consecutive busy ticks: at least 4 ticks, which take one second, and at most 8.
 */
const TICKS = 8;
/** A tick is busy if the number of requests on the node never fell below this number during the tick. */
const BUSY_INSIDE = 16;
/** In one tick, the rate falls by at most 10 %: the new rate is at least this part of the previous rate. */
const MAX_FALL = 0.9;
/** If the rate was not measured for this time, it is discarded. */
const FORGET_MS = 60_000;
/** For channels below their share, the usual limit of requests on the node is multiplied by this factor. */
const CHANNEL_OVERFLOW = 3;

interface ChannelInside {
  count: number;
}

/**
 * Measures the load of a node and decides if a request can be served in time. By Little's law, a request waits for this
 * time: the number of requests on the node divided by the rate at which they are served. Requests that wait for an
 * institution, or for a client that reads slowly, use no capacity and are not counted.
 */
export function createNodeLoad(given: Partial<LoadLimits> = {}, now: () => number = () => performance.now()) {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const insideOf = new Map<string, ChannelInside>();
  let inside = 0;
  let channels = 0;
  const rate = createRateMeter(now, () => inside);

  function most(): number {
    const perSecond = rate.perSecond();
    return perSecond === undefined
      ? Math.max(limits.alwaysAllowed, limits.unmeasured)
      : Math.max(limits.alwaysAllowed, (perSecond * limits.backlogMs) / 1_000);
  }

  /**
   * Returns true if the channel has less than its share of an overloaded node, so that a flood displaces no other
   * channel.
   */
  function hasShareLeft(who: string, mostInside: number): boolean {
    const own = insideOf.get(who)?.count ?? 0;
    return inside < mostInside * CHANNEL_OVERFLOW && own < mostInside / (own === 0 ? channels + 1 : channels);
  }

  function mayEnter(who: string): boolean {
    if (inside < limits.alwaysAllowed) return true;
    const mostInside = most();
    return inside < mostInside || hasShareLeft(who, mostInside);
  }

  function insideOfChannel(who: string): ChannelInside {
    const known = insideOf.get(who);
    if (known) return known;
    const fresh = { count: 0 };
    insideOf.set(who, fresh);
    return fresh;
  }

  /** Uses fields instead of closures, because an object is created for every request. */
  class CountedRequest implements TakenRequest {
    private isBegun = false;
    private isAdmitted = false;
    private isHere = true;
    private isOutside = false;
    private readonly beginBy: number;

    constructor(
      private readonly channel: ChannelInside,
      private readonly socket: Pick<Socket, 'destroyed'>,
    ) {
      const at = now();
      this.beginBy = at + limits.patienceMs;
      this.count(1, at);
    }

    isWaiting(): boolean {
      return this.isBegun || (!this.socket.destroyed && now() < this.beginBy);
    }

    waitLeftMs(): number {
      return this.isBegun ? Number.POSITIVE_INFINITY : this.beginBy - now();
    }

    isNodeBusy(): boolean {
      return inside >= BUSY_INSIDE;
    }

    markBegun(): void {
      this.isBegun = true;
    }

    async waitOutside<T>(work: () => Promise<T>): Promise<T> {
      if (!this.isHere || this.isOutside) return work();
      this.isOutside = true;
      this.count(-1, now());
      try {
        return await work();
      } finally {
        this.isOutside = false;
        if (this.isHere) this.count(1, now());
      }
    }

    markAdmitted(): void {
      this.isAdmitted = true;
    }

    leave(): void {
      if (!this.isHere) return;
      this.isHere = false;
      if (!this.isOutside) this.count(-1, now());
      if (this.isAdmitted) rate.served();
    }

    private count(by: 1 | -1, at: number): void {
      rate.look(at);
      inside += by;
      const { count } = this.channel;
      this.channel.count += by;
      if (count === 0) channels += 1;
      else if (this.channel.count === 0) channels -= 1;
      rate.noteInside();
    }
  }

  return {
    /** Returns true if a request can enter, whatever its channel. */
    hasRoomForAnybody: (): boolean => inside < limits.alwaysAllowed,
    mayEnter,
    enter(who: string, socket: Pick<Socket, 'destroyed'>): TakenRequest {
      if (!mayEnter(who)) throw new NodeBusy();
      return new CountedRequest(insideOfChannel(who), socket);
    },
    counts: (): { readonly inside: number; readonly most: number } => ({ inside, most: Math.floor(most()) }),
  };
}

export type NodeLoad = ReturnType<typeof createNodeLoad>;

interface Tick {
  readonly served: number;
  readonly isBusy: boolean;
}

function perSecondOf(ticks: readonly Tick[]): number {
  return (ticks.reduce((sum, { served }) => sum + served, 0) * TICKS_PER_SECOND) / ticks.length;
}

/** Measures the requests served per second while the node is busy. */
function createRateMeter(now: () => number, inside: () => number) {
  let began = now();
  let served = 0;
  let fewest = 0;
  let ticks: Tick[] = [];
  let known: number | undefined;
  let knownAt = 0;

  function endTick(at: number): void {
    ticks = [...ticks.slice(1 - TICKS), { served, isBusy: fewest >= BUSY_INSIDE }];
    served = 0;
    fewest = inside();
    const quiet = ticks.findLastIndex(({ isBusy }) => !isBusy);
    const busy = ticks.slice(quiet + 1);
    const lastSecond = perSecondOf(ticks.slice(-TICKS_PER_SECOND));
    if (busy.length >= TICKS_PER_SECOND) {
      // Limits the fall of the rate, because in the first second of a flood the new requests are not served yet.
      known = Math.max(perSecondOf(busy), (known ?? 0) * MAX_FALL);
      knownAt = at;
    } else if (known !== undefined && lastSecond > known) {
      // The node can serve at least as much as in the last second. A shorter time would mislead, because requests end
      // in batches.
      known = lastSecond;
      knownAt = at;
    }
  }

  /** Ends all ticks that are over at the time `at`. */
  function look(at: number): void {
    if (at - began < TICK_MS) return;
    const passed = Math.floor((at - began) / TICK_MS);
    for (let tick = 1; tick <= Math.min(passed, TICKS); tick += 1) endTick(began + tick * TICK_MS);
    began += passed * TICK_MS;
  }

  return {
    look,
    noteInside(): void {
      fewest = Math.min(fewest, inside());
    },
    served(): void {
      served += 1;
    },
    perSecond(): number | undefined {
      const at = now();
      look(at);
      if (at - knownAt > FORGET_MS) known = undefined;
      return known;
    },
  };
}
