import { type Caller, NotBegun } from '../../platform/db/sharing/caller.js';
import { RateLimited } from '../answers/minute-limit.js';
import { NodeBusy } from '../answers/respond.js';

export interface AnswerPlaceLimits {
  /** The maximum number of long answers in progress at once: on a node, and for one channel. */
  readonly longAnswers: number;
  readonly longAnswersPerChannel: number;
  /**
   * The maximum number of requests that wait for a place, on a node and for one channel, and how long each waits (ms).
   */
  readonly longAnswersWaiting: number;
  readonly longAnswersWaitingPerChannel: number;
  readonly longAnswerWait: number;
}

/** A place among a node's concurrent long answers. Releasing it again has no effect. */
export interface AnswerPlace {
  release(): void;
}

interface Waiting {
  readonly channelId: number;
  readonly caller: Caller;
  readonly grant: (place: AnswerPlace) => void;
  readonly giveUp: (error: Error) => void;
}

/**
 * Limits the number of long answers, in total and for each channel, because each holds memory while its client reads. A
 * free place goes to the request that has waited longest, unless its channel already uses all its places.
 */
export function createAnswerPlaces(limits: AnswerPlaceLimits) {
  const openByChannel = new Map<number, number>();
  const waiting: Waiting[] = [];
  let open = 0;

  const isFull = (channelId: number) => (openByChannel.get(channelId) ?? 0) >= limits.longAnswersPerChannel;

  function takeIfFree(channelId: number): AnswerPlace | undefined {
    if (open >= limits.longAnswers || isFull(channelId)) return undefined;
    open += 1;
    openByChannel.set(channelId, (openByChannel.get(channelId) ?? 0) + 1);
    let isHeld = true;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        giveBack(channelId);
      },
    };
  }

  function giveBack(channelId: number): void {
    const left = (openByChannel.get(channelId) ?? 0) - 1;
    if (left === 0) openByChannel.delete(channelId);
    else openByChannel.set(channelId, left);
    open -= 1;
    const next = takeNextWaiting();
    const place = next && takeIfFree(next.channelId);
    if (place) next.grant(place);
  }

  function takeNextWaiting(): Waiting | undefined {
    for (;;) {
      const next = waiting.findIndex((one) => !isFull(one.channelId));
      const [one] = next < 0 ? [] : waiting.splice(next, 1);
      if (!one || one.caller.isWaiting()) return one;
      one.giveUp(new NotBegun());
    }
  }

  /** Returns RateLimited if the channel uses all of its places, else NodeBusy. */
  const refusal = (channelId: number) => (isFull(channelId) ? new RateLimited(1) : new NodeBusy());

  async function take(channelId: number, caller: Caller): Promise<AnswerPlace> {
    const place = takeIfFree(channelId);
    if (place) return place;
    const ofChannel = waiting.filter((one) => one.channelId === channelId).length;
    if (ofChannel >= limits.longAnswersWaitingPerChannel) throw new RateLimited(1);
    if (waiting.length >= limits.longAnswersWaiting) throw refusal(channelId);
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        channelId,
        caller,
        grant(granted) {
          clearTimeout(timer);
          resolve(granted);
        },
        giveUp(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(
        () => {
          waiting.splice(waiting.indexOf(one), 1);
          reject(refusal(channelId));
        },
        Math.min(limits.longAnswerWait, caller.waitLeftMs()),
      );
      waiting.push(one);
    });
  }

  return {
    takeNow: takeIfFree,
    /** Waits up to `longAnswerWait` for a place. Throws RateLimited, NodeBusy or NotBegun if it gets none. */
    take,
    counts: () => ({ open, waiting: waiting.length }),
  };
}

export type AnswerPlaces = ReturnType<typeof createAnswerPlaces>;

/** Thrown by `reserve` if no place is free. The action then has no lasting effect. */
class PlaceNeeded extends Error {}

/** The place of one request. The place is taken only when the request has a long answer. */
export class RequestPlace {
  private place: AnswerPlace | undefined;

  constructor(
    private readonly places: AnswerPlaces,
    private readonly channelId: number,
    private readonly caller: Caller,
  ) {}

  /** Called by an action. Does not wait, because the action may hold locks. `retryWhenFree` waits without locks. */
  reserve(): void {
    this.place ??= this.places.takeNow(this.channelId);
    if (!this.place) throw new PlaceNeeded();
  }

  async retryWhenFree<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PlaceNeeded)) throw error;
        await this.take();
      }
    }
  }

  async take(): Promise<void> {
    this.place ??= await this.caller.waitOutside(() => this.places.take(this.channelId, this.caller));
  }

  release(): void {
    this.place?.release();
  }
}
