// A node's engine in a process of its own: what a node does about due orders, on the database that it is told.
import { channelRegistry } from '../../dist/catalog/channels/registry.js';
import { openPaymentChannels } from '../../dist/catalog/payment-channels/pace-sql.js';
import { startEngine } from '../../dist/engine/engine.js';
import { billCollected } from '../../dist/engine/jobs/billing.js';
import { renewDeducted } from '../../dist/engine/jobs/renewals.js';
import { fulfilmentRegistry } from '../../dist/fulfilment/registry.js';
import { bridgeGateway } from '../../dist/gateways/bridge/bridge.js';
import { gatewayRegistry } from '../../dist/gateways/registry.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { settleTogether } from '../../dist/subscriptions/steps/payments/settle-together.js';
import { answer } from './answer.mjs';

let deps;

answer({
  async open({ url, dataDir }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const { database, vault } = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    const log = createLog('warn');
    const bridge = (address, wrapped) => bridgeGateway({ url: address, key: vault.unwrapKey(wrapped), clock, log });
    deps = {
      database,
      vault,
      clock,
      log,
      fulfilments: fulfilmentRegistry({ database, vault, clock, log }),
      channels: channelRegistry(database, vault),
      gateways: gatewayRegistry(database, { bridge }),
      settle: settleTogether(database, clock),
    };
  },
  /** Mode B: everything that is due. */
  bill: () => billCollected(deps.database),
  /** Mode A: everything that is due at every payment channel. */
  async renew() {
    const channels = await openPaymentChannels(deps.database);
    const counts = await Promise.all(channels.map((pace) => renewDeducted(deps, pace)));
    return counts.reduce((sum, count) => sum + count, 0);
  },
  /** All that a node does, until it is ended. */
  work: () => void startEngine(deps),
  close: () => deps.database.close(),
});
