// A node's engine in a separate process, for due orders on a given database.
import { createChannelRegistry } from '../../dist/catalog/channels/channel-registry.js';
import { listOpenPaymentChannels } from '../../dist/catalog/payment-channels/pace-sql.js';
import { startEngine } from '../../dist/engine/engine.js';
import { billDueOrders } from '../../dist/engine/jobs/billing.js';
import { renewDueOrders } from '../../dist/engine/jobs/renewals.js';
import { createFulfilmentRegistry } from '../../dist/fulfilment/fulfilment-registry.js';
import { createBridgeGateway } from '../../dist/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../dist/gateways/gateway-registry.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { createClockWatch } from '../../dist/platform/installation/clock-watch.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createBatchSettler } from '../../dist/subscriptions/steps/payments/batch-settler.js';
import { answer } from './answer.mjs';

let deps;

answer({
  async open({ url, dataDir }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    const { database, vault } = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    const log = createLog('warn');
    const bridge = (address, key) => createBridgeGateway({ url: address, key, clock, log });
    const node = { database, vault, environment: 'sandbox', clock, log };
    deps = {
      ...node,
      fulfilments: createFulfilmentRegistry(node),
      channels: createChannelRegistry(database, vault),
      gateways: createGatewayRegistry(node, { bridge }),
      settle: createBatchSettler(database, clock),
    };
  },
  /** Mode B: bills everything that is due. */
  bill: () => billDueOrders(deps.database),
  /** Mode A: debits everything that is due at every payment channel. */
  async renew() {
    const channels = await listOpenPaymentChannels(deps.database);
    const counts = await Promise.all(channels.map((pace) => renewDueOrders(deps, pace)));
    return counts.reduce((sum, count) => sum + count, 0);
  },
  /** Runs the whole engine until the process ends. */
  work: () => void startEngine({ ...deps, clockWatch: createClockWatch(deps) }),
  close: () => deps.database.close(),
});
