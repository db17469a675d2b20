// A node that only sends events, also to receivers on this machine. It runs the compiled code. Each push names the
// node's process in an unsigned header. It serves no requests, and reports its process id in place of a port.
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
const pushClient = createPushClient({ allowLocalhost: true });
const sending = startDeliveries({
  database,
  channels: createChannelRegistry(database, vault),
  links: createRedeemLinks(() => 'http://localhost', systemClock),
  pushClient: {
    push: (url, sign) =>
      pushClient.push(url, () => {
        const { headers, body } = sign();
        return { headers: `${headers}X-Test-Process: ${process.pid}\r\n`, body };
      }),
    close: () => pushClient.close(),
  },
  clock: systemClock,
  log: createLog(settings.logLevel),
});
process.stdout.write(`${JSON.stringify({ ready: '0', port: process.pid })}\n`);
process.once('SIGTERM', async () => {
  await sending.stop();
  await database.close();
  process.exit(0);
});
