import { createDispatcher, type DispatcherDeps } from '../../delivery/dispatcher/dispatcher.js';
import { runEvery } from '../timer.js';

const BALANCE_SECONDS = 2;
const READ_SECONDS = 0.1;

export interface DeliveriesDeps extends DispatcherDeps {
  /** Does it only while this node's clock is right. */
  readonly whileClockIsRight?: (job: () => Promise<unknown>) => () => Promise<unknown>;
}

/** Sends events for as long as the node runs. */
export function startDeliveries({ whileClockIsRight: inTime = (job) => job, ...deps }: DeliveriesDeps) {
  const dispatcher = createDispatcher(deps);
  // Without a lease nothing is sent, and another node takes the shards: receivers judge a push by its time.
  const balance = inTime(() => dispatcher.balance());
  const balancing = runEvery(BALANCE_SECONDS, 'shards of events', deps.log, balance, { atOnce: true });
  const reading = runEvery(READ_SECONDS, 'events', deps.log, async () => {
    while (await dispatcher.read());
  });
  return {
    /** What was begun is ended under the lease, and then the lease, so that nobody waits for it. */
    async stop(): Promise<void> {
      await Promise.all([dispatcher.drain(), reading.stop()]);
      await balancing.stop();
      await dispatcher
        .release()
        .catch((err: unknown) => deps.log.warn({ err }, 'shards of events were left to their lease'));
    },
  };
}
