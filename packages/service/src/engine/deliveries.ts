import { type DeliveryDeps, deliveries } from '../webhooks/deliveries.js';
import { every } from './timer.js';

const BALANCE_SECONDS = 2;
const READ_SECONDS = 0.1;

/** Sends events for as long as the node runs. */
export function deliverer(deps: DeliveryDeps) {
  const sending = deliveries(deps);
  const balancing = every(BALANCE_SECONDS, 'shards of events', deps.log, () => sending.balance(), { atOnce: true });
  const reading = every(READ_SECONDS, 'events', deps.log, async () => {
    while (await sending.read());
  });
  return {
    /** What was begun is ended under the lease, and then the lease, so that nobody waits for it. */
    async stop(): Promise<void> {
      await Promise.all([sending.drain(), reading.stop()]);
      await balancing.stop();
      await sending
        .leave()
        .catch((err: unknown) => deps.log.warn({ err }, 'shards of events were left to their lease'));
    },
  };
}
