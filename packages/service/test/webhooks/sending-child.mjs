// A node that does nothing but send events, from the compiled code, also to this machine. It runs until it is killed.
import { channelRegistry } from '../../dist/channels/registry.js';
import { systemClock } from '../../dist/clock.js';
import { openFromSettings } from '../../dist/db/open.js';
import { deliverer } from '../../dist/engine/deliveries.js';
import { createLog } from '../../dist/log.js';
import { readSettings } from '../../dist/settings.js';
import { connections } from '../../dist/webhooks/connections.js';

const settings = readSettings();
const { database, vault } = await openFromSettings(settings, { role: 'service', log: () => {} });
const sending = deliverer({
  database,
  channels: channelRegistry(database, vault),
  connections: connections({ local: true }),
  clock: systemClock,
  log: createLog(settings.logLevel),
});
process.once('SIGTERM', async () => {
  await sending.stop();
  await database.close();
});
