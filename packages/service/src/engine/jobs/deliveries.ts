import { createDispatcher, type DispatcherDeps } from '../../delivery/dispatcher/dispatcher.js';
import { runEvery } from '../timer.js';

const BALANCE_SECONDS = 2;
const READ_SECONDS = 0.1;

export interface DeliveriesDeps extends DispatcherDeps {
  /** Makes a job that runs only while this node's clock is right. */
  readonly whileClockIsRight?: (job: () => Promise<unknown>) => () => Promise<unknown>;
}

/** Sends events for as long as the node runs. */
export function startDeliveries({ whileClockIsRight: inTime = (job) => job, ...deps }: DeliveriesDeps) {
  const dispatcher = createDispatcher(deps);
  // Receivers check the time of a push: a node whose clock is wrong does not renew its lease, and another takes its shards.
  const balance = inTime(() => dispatcher.balance());
  const balancing = runEvery(BALANCE_SECONDS, 'shards of events', deps.log, balance, { atOnce: true });
  const reading = runEvery(READ_SECONDS, 'events', deps.log, async () => {
    while (await dispatcher.read());
  });
  return {
    /** Finishes what was begun while the lease lasts, then releases the lease, so that no node has to wait for its end. */
    async stop(): Promise<void> {
      await Promise.all([dispatcher.drain(), reading.stop()]);
      await balancing.stop();
      await dispatcher
        .release()
        .catch((err: unknown) => deps.log.warn({ err }, 'shards of events were left to their lease'));
    },
  };
}
