// A node that sends events, in a process of its own.
import { channelRegistry } from '../../dist/channels/registry.js';
import { systemClock as clock } from '../../dist/clock.js';
import { openFromSettings } from '../../dist/db/open.js';
import { deliverer } from '../../dist/engine/deliveries.js';
import { createLog } from '../../dist/log.js';
import { readSettings } from '../../dist/settings.js';
import { connections } from '../../dist/webhooks/connections.js';
import { answer } from '../renewals/answer.mjs';

let deps;
let sending;

answer({
  async open({ url, dataDir }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const { database, vault } = await openFromSettings(settings, { role: 'service', log: () => undefined });
    deps = { database, channels: channelRegistry(database, vault), clock, log: createLog('warn') };
  },
  /** A node is there before the events are. */
  prepare() {
    sending ??= deliverer({ ...deps, connections: connections({ local: true }) });
  },
  begin: () => undefined,
  /** Everything that was sent is written down as well. */
  async finish() {
    await sending.stop();
    sending = undefined;
  },
  close: () => deps.database.close(),
});
