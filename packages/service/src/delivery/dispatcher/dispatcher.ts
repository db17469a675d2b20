import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Database } from '../../platform/db/database.js';
import type { RedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import type { DeliveryCounts, OnPush } from '../counts.js';
import { createReceiverRegistry } from '../receivers/receivers.js';
import type { PushClient } from '../transport/push-client.js';
import { DueReader } from './due-reader.js';
import { HeldShards } from './held-shards.js';
import { LaneLoader } from './lane-loader.js';
import { OutcomeWriter } from './outcome-writer.js';
import { PushLoop } from './push-loop.js';
import { ReadsInProgress } from './reads-in-progress.js';

export interface DispatcherDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly links: RedeemLinks;
  readonly pushClient: PushClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counts?: DeliveryCounts | undefined;
  readonly onPush?: OnPush | undefined;
  /** The maximum number of pushes in flight to one address. */
  readonly pushesPerAddress?: number;
  /** Replaces the database's clock for due times in tests. */
  readonly dueBy?: Clock;
}

/**
 * Pushes due events in the shards that this node holds. Reads rows without locks, because no other node reads these
 * shards. Writes an outcome only while this node holds the shard under the same epoch.
 */
export function createDispatcher(deps: DispatcherDeps) {
  const { database, channels, links, pushClient, log, counts, dueBy, pushesPerAddress } = deps;
  const receivers = createReceiverRegistry(database, channels);
  const reads = new ReadsInProgress();
  const now = () => dueBy?.now();
  let isStopped = false;

  const shards = new HeldShards(database, (shard) => loop.addLanesOf(shard), pushesPerAddress);
  const outcomes = new OutcomeWriter({
    database,
    log,
    counts,
    reads,
    shouldGiveUp: () => isStopped && shards.isLeaseOver(),
    onWritten: () => loop.run(),
    onUnblocked: (shard) => loop.addLanesOf(shard),
  });
  const recordOutcome = outcomes.add.bind(outcomes);
  const loader = new LaneLoader({ database, receivers, links, log, reads, recordOutcome, now });
  const loop = new PushLoop({ ...deps, shards, receivers, loader, outcomes });
  const onLaneFilled = loop.addLane.bind(loop);
  const reader = new DueReader({ database, receivers, log, reads, shards: shards.byNumber, onLaneFilled, now });

  return {
    /** This node's id in the database. */
    node: shards.node,
    /** Renews the lease, takes or releases shards, and continues with pushes that waited for the lease. */
    async balance(): Promise<void> {
      await shards.renewAndBalance();
      await reader.recheckHeldBack();
      loop.run();
    },
    /**
     * Reads due events. Returns true if more events may be due now. The next call retries events that could not be
     * read.
     */
    async read(): Promise<boolean> {
      if (isStopped || !shards.maySend()) return false;
      try {
        return await reader.readPage(now() ?? shards.databaseNow());
      } finally {
        loop.run();
      }
    },
    /** Returns true if nothing is queued or in flight and all outcomes are written. */
    isQuiet: (): boolean => loop.isIdle() && outcomes.isIdle() && !loop.hasLanes(),
    /** Begins no more pushes, and waits for those in flight. */
    async drain(): Promise<void> {
      isStopped = true;
      loop.stop();
      while (!loop.isIdle() || !outcomes.isIdle()) await delay(20);
    },
    /** Closes connections and releases the shards to other nodes. Must be called after the last `balance`. */
    async release(): Promise<void> {
      pushClient.close();
      await shards.release();
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
