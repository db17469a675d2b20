// A node that does nothing but send events, from the compiled code, also to this machine. It runs until it is killed.
import { channelRegistry } from '../../dist/catalog/channels/registry.js';
import { createPushClient } from '../../dist/delivery/transport/push-client.js';
import { deliverer } from '../../dist/engine/jobs/deliveries.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';

const settings = readSettings();
const { database, vault } = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const sending = deliverer({
  database,
  channels: channelRegistry(database, vault),
  pushClient: createPushClient({ allowLocalhost: true }),
  clock: systemClock,
  log: createLog(settings.logLevel),
});
process.once('SIGTERM', async () => {
  await sending.stop();
  await database.close();
});
