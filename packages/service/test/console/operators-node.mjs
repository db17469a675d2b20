// Carries out operators' actions with the compiled code, and kills its own process (kill -9) at the point that DIES
// names. For example, `before-call 2` is before the call for the second refund, `after-call 2` is after that call, and
// `before-commit 3` is before the commit of the third transaction. `after-decision` is after the first commit.

import { createBridgeGateway } from '../../dist/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../dist/gateways/gateway-registry.js';
import { approve } from '../../dist/operator/approvals/approvals.js';
import { workOffRuns } from '../../dist/operator/bulk/work-off.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { readSettings } from '../../dist/platform/settings.js';

const [point, nth = '1'] = (process.env['DIES'] ?? '').split(' ');
const seen = {};
const dieAt = (here) => {
  seen[here] = (seen[here] ?? 0) + 1;
  if (here === point && seen[here] === Number(nth)) process.kill(process.pid, 'SIGKILL');
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
const gateways = {
  async of(code) {
    const gateway = await registry.of(code);
    return {
      ...gateway,
      async refund(request) {
        dieAt('before-call');
        const outcome = await gateway.refund(request);
        dieAt('after-call');
        return outcome;
      },
    };
  },
};
const doomed = {
  query: database.query,
  async transaction(work, options) {
    const result = await database.transaction(async (tx) => {
      const worked = await work(tx);
      dieAt('before-commit');
      return worked;
    }, options);
    dieAt('after-decision');
    return result;
  },
};
const operator = { database: doomed, vault, environment: 'sandbox', actor: 'bob', clock: systemClock, gateways };
const approvalId = process.argv[2];
const result = approvalId
  ? await approve(operator, { approvalId }, { name: 'bob', role: 'finance' })
  : await workOffRuns(operator);
process.stdout.write(`${JSON.stringify(result)}\n`);
await registry.close();
await opened.close();
