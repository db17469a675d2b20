// A node that sends events, in a separate process.
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createPushClient } from '../../dist/delivery/transport/push-client.js';
import { startDeliveries } from '../../dist/engine/jobs/deliveries.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createRedeemLinks } from '../../dist/subscriptions/domain/orders/redeem-links.js';
import { answer } from '../renewals/answer.mjs';

let deps;
let sending;

answer({
  async open({ url, dataDir, pushesPerAddress }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const { database, vault } = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    const links = createRedeemLinks(() => 'http://localhost', clock);
    deps = {
      database,
      channels: createChannelRegistry(database, vault),
      links,
      clock,
      log: createLog('warn'),
      pushesPerAddress,
    };
  },
  /** Starts the node before the events are inserted, so that the start is not measured. */
  prepare() {
    sending ??= startDeliveries({ ...deps, pushClient: createPushClient({ allowLocalhost: true }) });
  },
  begin: () => undefined,
  /** Stops the node after it has recorded every push that it sent. */
  async finish() {
    await sending.stop();
    sending = undefined;
  },
  close: () => deps.database.close(),
});
