import { Rejection } from '@perennial/wire';
import { BACKGROUND_CALLER, type Caller, NotBegun } from './caller.js';

export interface ChannelQueueLimits {
  /** Maximum number of tasks of one channel in flight. */
  readonly perChannel: number;
  /** Maximum number of tasks of all channels in flight. Default: unlimited. */
  readonly total?: number;
  /** The maximum time in ms that a task waits for its turn. */
  readonly waitMs: number;
  /** The time for which a task's place stays empty after the task, as a multiple of the task's duration. Default: 0. */
  readonly rest?: number;
}

/** Thrown if a channel has more tasks than can begin in time. The task was not begun. */
export class TooManyAtOnce extends Rejection {
  constructor() {
    super('RATE_LIMITED', 'too many requests of this channel wait for their turn');
  }
}

/** Maximum number of waiting tasks of a channel, so that no channel fills the memory. Further tasks are refused. */
const MAX_WAITING = 1_000;

/**
 * The longest rest after a task. Without this limit, the place of a task that took minutes would stay empty for
 * minutes.
 */
const MAX_REST_MS = 1_000;

interface Waiting {
  readonly caller: Caller;
  readonly start: () => void;
  readonly giveUp: (error: Error) => void;
}

/** The tasks of one channel, in flight and waiting. */
interface Line {
  inFlight: number;
  readonly waiting: Waiting[];
}

/**
 * Runs a limited number of each channel's tasks at a time, in order of arrival. If the total is limited too, channels
 * take turns. Counts only the tasks of this node.
 */
export function createChannelQueue({
  perChannel,
  total = Number.POSITIVE_INFINITY,
  waitMs,
  rest = 0,
}: ChannelQueueLimits) {
  const lines = new Map<number, Line>();
  /** The channels with waiting tasks. The first has waited longest for its turn. */
  const waitingLines = new Set<Line>();
  let inFlight = 0;

  const hasRoom = (line: Line) => inFlight < total && line.inFlight < perChannel;

  function begin(line: Line): void {
    line.inFlight += 1;
    inFlight += 1;
  }

  function end(line: Line): void {
    line.inFlight -= 1;
    inFlight -= 1;
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
     * Runs the task when its turn comes; a waiting task holds no connection. Throws TooManyAtOnce, or NotBegun if the
     * caller no longer waits.
     */
    async run<T>(channelId: number, work: () => Promise<T>, caller: Caller = BACKGROUND_CALLER): Promise<T> {
      let line = lines.get(channelId);
      if (!line) {
        line = { inFlight: 0, waiting: [] };
        lines.set(channelId, line);
      }
      if (!caller.isWaiting()) throw new NotBegun();
      if (hasRoom(line)) begin(line);
      else await wait(line, caller);
      const began = rest > 0 ? performance.now() : 0;
      try {
        return await work();
      } finally {
        if (rest > 0) setTimeout(end, Math.min((performance.now() - began) * rest, MAX_REST_MS), line).unref();
        else end(line);
      }
    },
    get waiting() {
      let count = 0;
      for (const line of waitingLines) count += line.waiting.length;
      return count;
    },
  };
}

export type ChannelQueue = ReturnType<typeof createChannelQueue>;
