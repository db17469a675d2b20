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

answer({
  async open({ url, dataDir }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const { database, vault } = await openFromSettings(settings, { role: 'service', log: () => undefined });
    deps = { database, channels: channelRegistry(database, vault), clock, log: createLog('warn') };
  },
  prepare: () => undefined,
  /** As the engine does it, until so many were accepted and everything is written down. */
  async run({ count }) {
    const kept = connections({ local: true });
    let accepted = 0;
    let sending;
    await new Promise((resolve) => {
      const push = async (url, signed) => {
        const result = await kept.push(url, signed);
        if (result.outcome === 'ACCEPTED' && ++accepted === count) resolve();
        return result;
      };
      sending = deliverer({ ...deps, connections: { ...kept, push } });
    });
    await sending.stop();
    return accepted;
  },
  close: () => deps.database.close(),
});
