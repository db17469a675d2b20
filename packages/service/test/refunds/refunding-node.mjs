// Makes one refund from the compiled code, in a process that kills itself (SIGKILL) at the point that REFUND_DIES
// names: before the call to the institution, after its answer, or after the commit of the result.

import { createBridgeGateway } from '../../dist/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../dist/gateways/gateway-registry.js';
import { refundPayment } from '../../dist/operator/orders/refunds/refunds.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';

const dies = process.env['REFUND_DIES'];
const dieAt = (point) => {
  if (dies === point) process.kill(process.pid, 'SIGKILL');
};

const settings = readSettings();
const opened = await openDatabaseFromSettings(settings, { role: 'tool', log: () => {} });
const { database, vault } = opened;
const registry = createGatewayRegistry(
  { database, vault, environment: 'sandbox' },
  {
    sandbox: () => {
      throw new Error('there is no sandbox here');
    },
    bridge: (url, key) => createBridgeGateway({ url, key, clock: systemClock }),
  },
);
let called = false;
const gateways = {
  async of(code) {
    const gateway = await registry.of(code);
    return {
      ...gateway,
      async refund(request) {
        dieAt('before-call');
        const outcome = await gateway.refund(request);
        dieAt('after-call');
        called = true;
        return outcome;
      },
    };
  },
};
const doomed = {
  query: database.query,
  async transaction(work) {
    const result = await database.transaction(work);
    if (called) dieAt('after-commit');
    return result;
  },
};
const operator = { database: doomed, vault, environment: 'sandbox', actor: 'test:child', clock: systemClock, gateways };
const refunded = await refundPayment(operator, JSON.parse(process.argv[2]));
process.stdout.write(`${JSON.stringify(refunded)}\n`);
await registry.close();
await opened.close();
