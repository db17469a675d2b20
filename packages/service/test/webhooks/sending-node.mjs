// A node that does nothing but send events, from the compiled code, also to this machine. It runs until it is killed.
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { createPushClient } from '../../dist/delivery/transport/push-client.js';
import { startDeliveries } from '../../dist/engine/jobs/deliveries.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createRedeemLinks } from '../../dist/subscriptions/domain/orders/redeem-links.js';

const settings = readSettings();
const { database, vault } = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const sending = startDeliveries({
  database,
  channels: createChannelRegistry(database, vault),
  links: createRedeemLinks(() => 'http://localhost', systemClock),
  pushClient: createPushClient({ allowLocalhost: true }),
  clock: systemClock,
  log: createLog(settings.logLevel),
});
process.once('SIGTERM', async () => {
  await sending.stop();
  await database.close();
});
