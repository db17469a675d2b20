// A node of the service, from the compiled code, that kills itself with SIGKILL at named points of a claim: after the
// claim's commit and before the supplier is called, or after the supplier has answered. The table test_kills has the
// claims that kill the node, each with its point. A kill deletes its row, so it happens only once.

import { createFulfilmentRegistry } from '../../dist/fulfilment/fulfilment-registry.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createService } from '../../dist/service.js';

const settings = readSettings();
const log = createLog(settings.logLevel);
const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const { database, vault } = opened;

async function dieAt(point, claimNo) {
  const doomed = await database.query('delete from test_kills where claim_no = $1 and point = $2 returning point', [
    claimNo,
    point,
  ]);
  if (doomed.length > 0) process.kill(process.pid, 'SIGKILL');
}

const registry = createFulfilmentRegistry({ database, vault, environment: 'sandbox', clock: systemClock, log });
const fulfilments = {
  ...registry,
  async of(tx, benefitCode) {
    const supplier = await registry.of(tx, benefitCode);
    return {
      ...supplier,
      async fulfil(claim) {
        await dieAt('before-call', claim.claimNo);
        const outcome = await supplier.fulfil(claim);
        await dieAt('after-call', claim.claimNo);
        return outcome;
      },
    };
  },
};

const service = createService({
  ...settings,
  ...opened,
  fulfilments,
  clock: systemClock,
  log,
  publicUrl: () => 'https://pay.example',
  redeemUrl: () => 'https://pay.example',
});
await service.server.listen({ host: '127.0.0.1', port: settings.port });
process.stdout.write(`${JSON.stringify({ ready: '0', port: settings.port })}\n`);
process.once('SIGTERM', async () => {
  await service.stop();
  await opened.close();
  process.exit(0);
});
