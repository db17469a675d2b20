import { Rejection } from '@perennial/wire';
import { BACKGROUND_CALLER, type Caller, NotBegun } from './caller.js';

export interface ChannelQueueLimits {
  /** How much of one channel may be under way. */
  readonly perChannel: number;
  /** How much of all channels together. Undefined: any number. */
  readonly total?: number;
  /** How long work waits for its turn. */
  readonly waitMs: number;
}

/** A channel asks for more at once than can be done in time. Nothing was begun. */
export class TooManyAtOnce extends Rejection {
  constructor() {
    super('RATE_LIMITED', 'too many requests of this channel wait for their turn');
  }
}

/** When this many of a channel wait, the next is refused at once, so that no channel fills the memory. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly caller: Caller;
  readonly start: () => void;
  readonly giveUp: (error: Error) => void;
}

/** What one channel has under way, and what waits. */
interface Line {
  underWay: number;
  readonly waiting: Waiting[];
}

/**
 * Runs a limited amount of work of each channel at a time, in the order in which it came. Where the total is limited too,
 * channels take turns: what one has waiting does not delay another. In the memory of this node.
 */
export function createChannelQueue({ perChannel, total = Number.POSITIVE_INFINITY, waitMs }: ChannelQueueLimits) {
  const lines = new Map<number, Line>();
  /** Channels that have work waiting; the first has waited longest for its turn. */
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
    /**
     * Does the work when its turn has come; until then it holds nothing. Throws TooManyAtOnce, or NotBegun when the caller has
     * gone meanwhile.
     */
    async run<T>(channelId: number, work: () => Promise<T>, caller: Caller = BACKGROUND_CALLER): Promise<T> {
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
    /** How much work of all channels waits. */
    get waiting() {
      let count = 0;
      for (const line of waitingLines) count += line.waiting.length;
      return count;
    },
  };
}

export type ChannelQueue = ReturnType<typeof createChannelQueue>;
