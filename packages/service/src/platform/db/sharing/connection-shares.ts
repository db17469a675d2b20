import { type Transactional, Unavailable, wrapQuery } from '../database.js';
import { BACKGROUND_CALLER, type Caller } from './caller.js';
import { type ChannelQueueLimits, createChannelQueue, TooManyAtOnce } from './channel-queue.js';

export interface ConnectionShares {
  /** What one request of this channel asks the database with. A transaction that has begun is carried through. */
  databaseFor(channelId: number, caller?: Caller): Transactional;
  /** Requests that wait, of all channels. */
  readonly waiting: number;
}

/** As long as one waits for a connection of the pool. */
const CONNECTION_WAIT_MS = 5_000;

/**
 * A third of the connections for one channel, at least 2, and two thirds for all channels together; never the last one. The
 * rest is for the statements that requests share, and for what no request asks for.
 */
export function connectionShareLimits(
  pool: number,
  perChannel = Math.max(Math.floor(pool / 3), Math.min(2, pool - 1)),
): ChannelQueueLimits {
  return { perChannel, total: Math.max(Math.floor((pool * 2) / 3), perChannel), waitMs: CONNECTION_WAIT_MS };
}

/**
 * Limits what each channel uses of a node's connections, before one is taken (docs/decisions/0002-admission.md). One is held
 * for a statement or a transaction, never between two, and whoever is in a transaction asks for no other.
 */
export function createConnectionShares(database: Transactional, limits: ChannelQueueLimits): ConnectionShares {
  const queue = createChannelQueue(limits);
  return {
    databaseFor(channelId, caller = BACKGROUND_CALLER) {
      let hasBegun = false;
      async function runInQueue<T>(work: () => Promise<T>): Promise<T> {
        try {
          return await queue.run(
            channelId,
            () => {
              hasBegun = true;
              return work();
            },
            caller,
          );
        } catch (error) {
          // Not as if nothing had happened yet: part of it may be done.
          throw hasBegun && error instanceof TooManyAtOnce
            ? new Unavailable('no connection of the channel became free in time')
            : error;
        }
      }
      return {
        query: wrapQuery(database, runInQueue),
        transaction: (work, options) =>
          runInQueue(() => {
            caller.markBegun();
            return database.transaction(work, options);
          }),
      };
    },
    get waiting() {
      return queue.waiting;
    },
  };
}
