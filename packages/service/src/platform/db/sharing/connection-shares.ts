import { type Transactional, Unavailable, wrapQuery } from '../database.js';
import { BACKGROUND_CALLER, type Caller } from './caller.js';
import { type ChannelQueueLimits, createChannelQueue, TooManyAtOnce } from './channel-queue.js';

/** Equals the time for which the pool waits for a connection. */
const CONNECTION_WAIT_MS = 5_000;

/**
 * Limits one channel to a third of the connections, but at least 2, and all channels together to two thirds. If there
 * are only two connections, both limits are 1. So the channels always leave a connection to shared statements, jobs and the
 * console.
 */
export function connectionShareLimits(pool: number): ChannelQueueLimits {
  const perChannel = Math.max(Math.floor(pool / 3), Math.min(2, pool - 1));
  return { perChannel, total: Math.max(Math.floor((pool * 2) / 3), perChannel), waitMs: CONNECTION_WAIT_MS };
}

/**
 * Limits the console to a quarter of the connections, and one operator to half of that, both at least 1. Operators take
 * turns like channels. After a statement its place stays empty for three times the statement's duration, because the
 * console's statements take CPU from the API too.
 */
export function consoleShareLimits(pool: number): ChannelQueueLimits {
  const total = Math.max(Math.floor(pool / 4), 1);
  return { perChannel: Math.ceil(total / 2), total, waitMs: CONNECTION_WAIT_MS, rest: 3 };
}

/**
 * Limits the connections that each channel uses on this node (docs/decisions/0002-admission.md). A request holds a
 * connection during a statement or a transaction, and needs no second connection within a transaction.
 */
export function createConnectionShares(database: Transactional, limits: ChannelQueueLimits) {
  const queue = createChannelQueue(limits);
  return {
    /**
     * Returns the database for one request of this channel. A begun transaction is finished even if the caller hangs up.
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
          // An earlier statement may have written. TooManyAtOnce would say that nothing was done, so throws
          // Unavailable.
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
