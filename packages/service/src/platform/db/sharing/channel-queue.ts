import { Rejection } from '@perennial/wire';
import { BACKGROUND_CALLER, type Caller, NotBegun } from './caller.js';

export interface ChannelQueueLimits {
  /** How many of one channel may be under way. */
  readonly perChannel: number;
  /** How many of all channels total. Unset: any number. */
  readonly total?: number;
  /** How long one waits for its turn. */
  readonly waitMs: number;
}

export interface ChannelQueue {
  /**
   * Does the work when its turn has come; until then nothing is held. Throws TooManyAtOnce, or NotBegun when the caller has
   * gone meanwhile.
   */
  run<T>(channelId: number, work: () => Promise<T>, caller?: Caller): Promise<T>;
  /** How many wait, of all channels. */
  readonly waiting: number;
}

/** A channel asks for more at once than can be done in time. What has waited too long was not begun. */
export class TooManyAtOnce extends Rejection {
  constructor() {
    super('RATE_LIMITED', 'too many requests of this channel wait for their turn');
  }
}

/** Beyond this many of a channel, the next one is refused without waiting: memory is not for one channel to fill. */
const MAX_WAITING = 1_000;

/** One that waits for its turn. */
interface Waiting {
  readonly caller: Caller;
  readonly start: () => void;
  readonly giveUp: (error: Error) => void;
}

/** Of one channel. */
interface Line {
  underWay: number;
  readonly waiting: Waiting[];
}

/**
 * So many at a time of each channel, in the order in which they came. Where all total are limited too, each channel has
 * its turn: what waits of one does not stand before another's. In the memory of this node.
 */
export function createChannelQueue({
  perChannel,
  total = Number.POSITIVE_INFINITY,
  waitMs,
}: ChannelQueueLimits): ChannelQueue {
  const lines = new Map<number, Line>();
  /** Lines in which somebody waits; the first has waited longest for its turn. */
  const waitingLines = new Set<Line>();
  let underWay = 0;

  const hasRoom = (line: Line) => underWay < total && line.underWay < perChannel;

  function begin(line: Line): void {
    line.underWay += 1;
    underWay += 1;
  }

  function end(line: Line): void {
    line.underWay -= 1;
    underWay -= 1;
    for (const next of waitingLines) {
      if (!hasRoom(next)) continue;
      const first = shiftStillWaiting(next);
      waitingLines.delete(next);
      if (next.waiting.length > 0) waitingLines.add(next);
      if (!first) continue;
      begin(next);
      first.start();
      return;
    }
  }

  function shiftStillWaiting({ waiting }: Line): Waiting | undefined {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      if (one.caller.isWaiting()) return one;
      one.giveUp(one.caller.waitLeftMs() > 0 ? new NotBegun() : new TooManyAtOnce());
    }
    return undefined;
  }

  function wait(line: Line, caller: Caller): Promise<void> {
    if (line.waiting.length >= MAX_WAITING) throw new TooManyAtOnce();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          line.waiting.splice(line.waiting.indexOf(one), 1);
          if (line.waiting.length === 0) waitingLines.delete(line);
          reject(new TooManyAtOnce());
        },
        Math.min(waitMs, caller.waitLeftMs()),
      );
      const one: Waiting = {
        caller,
        start() {
          clearTimeout(timer);
          resolve();
        },
        giveUp(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
      line.waiting.push(one);
      waitingLines.add(line);
    });
  }

  return {
    async run(channelId, work, caller = BACKGROUND_CALLER) {
      let line = lines.get(channelId);
      if (!line) {
        line = { underWay: 0, waiting: [] };
        lines.set(channelId, line);
      }
      if (!caller.isWaiting()) throw new NotBegun();
      if (hasRoom(line)) begin(line);
      else await wait(line, caller);
      try {
        return await work();
      } finally {
        end(line);
      }
    },
    get waiting() {
      let count = 0;
      for (const line of waitingLines) count += line.waiting.length;
      return count;
    },
  };
}
