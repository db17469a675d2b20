import { createDispatcher, type DispatcherDeps } from '../../delivery/dispatcher/dispatcher.js';
import { runEvery } from '../timer.js';

const BALANCE_SECONDS = 2;
const READ_SECONDS = 0.1;

export interface DeliveriesDeps extends DispatcherDeps {
  /** Wraps a job so that it runs only while this node's clock is right. */
  readonly whileClockIsRight?: (job: () => Promise<unknown>) => () => Promise<unknown>;
}

export function startDeliveries({ whileClockIsRight = (job) => job, ...deps }: DeliveriesDeps) {
  const dispatcher = createDispatcher(deps);
  // A node whose clock is wrong does not renew its lease and so sends nothing, because receivers check the time of a
  // push.
  const balance = whileClockIsRight(() => dispatcher.balance());
  const balancing = runEvery(BALANCE_SECONDS, 'shards of events', deps.log, balance, { atOnce: true });
  const reading = runEvery(READ_SECONDS, 'events', deps.log, async () => {
    while (await dispatcher.read());
  });
  return {
    /** Finishes pushes in flight, then releases the shards, so that no node waits for the lease to end. */
    async stop(): Promise<void> {
      await Promise.all([dispatcher.drain(), reading.stop()]);
      await balancing.stop();
      await dispatcher
        .release()
        .catch((err: unknown) =>
          deps.log.warn({ err }, 'event shards could not be released; other nodes take them when the lease ends'),
        );
    },
  };
}
