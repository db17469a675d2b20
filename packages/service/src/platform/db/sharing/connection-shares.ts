import { type Transactional, Unavailable, wrapQuery } from '../database.js';
import { BACKGROUND_CALLER, type Caller } from './caller.js';
import { type ChannelQueueLimits, createChannelQueue, TooManyAtOnce } from './channel-queue.js';

/** Equal to the time for which a connection of the pool is waited for. */
const CONNECTION_WAIT_MS = 5_000;

/**
 * Returns a third of the connections for one channel, at least 2, and two thirds for all channels; never the last one.
 * The rest is for shared statements and jobs.
 */
export function connectionShareLimits(pool: number): ChannelQueueLimits {
  const perChannel = Math.max(Math.floor(pool / 3), Math.min(2, pool - 1));
  return { perChannel, total: Math.max(Math.floor((pool * 2) / 3), perChannel), waitMs: CONNECTION_WAIT_MS };
}

/**
 * Limits the connections of each channel on this node (docs/decisions/0002-admission.md). A connection is held for one
 * statement or one transaction. A request in a transaction asks for no other connection.
 */
export function createConnectionShares(database: Transactional, limits: ChannelQueueLimits) {
  const queue = createChannelQueue(limits);
  return {
    /**
     * Returns the database for a request of this channel. A begun transaction is finished even if the caller hangs up.
     */
    databaseFor(channelId: number, caller: Caller = BACKGROUND_CALLER): Transactional {
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
          // Not TooManyAtOnce, which means that nothing was done: a part may be done.
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

export type ConnectionShares = ReturnType<typeof createConnectionShares>;
