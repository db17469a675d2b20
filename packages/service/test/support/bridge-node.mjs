// A node of the service, from the compiled code, that ends itself with kill -9 at named points of a creation: before the
// institution is called, after it has answered, and after the result is committed. An order asks for it in its number,
// and gets it once: test_kills remembers.
import { systemClock } from '../../dist/clock.js';
import { openFromSettings } from '../../dist/db/open.js';
import { bridgeGateway } from '../../dist/gateways/bridge/bridge.js';
import { gatewayRegistry } from '../../dist/gateways/registry.js';
import { sandboxGateway } from '../../dist/gateways/sandbox/gateway.js';
import { createLog } from '../../dist/log.js';
import { createService } from '../../dist/service.js';
import { readSettings } from '../../dist/settings.js';

const settings = readSettings();
const log = createLog(settings.logLevel);
const opened = await openFromSettings(settings, { role: 'service', log: () => {} });
const { database, vault } = opened;
await database.query('create table if not exists test_kills (external_order_no text primary key)').catch(() => {});

let killAfterCommit = false;
const die = () => process.kill(process.pid, 'SIGKILL');

async function diesAt(point, externalOrderNo) {
  if (!externalOrderNo.includes(`KILL-${point}`)) return false;
  const first = await database.query(
    'insert into test_kills values ($1) on conflict do nothing returning external_order_no',
    [externalOrderNo],
  );
  return first.length > 0;
}

const registry = gatewayRegistry(database, {
  sandbox: () => sandboxGateway(systemClock),
  bridge: (url, wrapped) => bridgeGateway({ url, key: vault.unwrapKey(wrapped), clock: systemClock, log }),
});
const gateways = {
  async of(code) {
    const gateway = await registry.of(code);
    return {
      ...gateway,
      async debit(request) {
        if (await diesAt('before-call', request.externalOrderNo)) die();
        const outcome = await gateway.debit(request);
        if (await diesAt('after-call', request.externalOrderNo)) die();
        if (await diesAt('after-commit', request.externalOrderNo)) killAfterCommit = true;
        return outcome;
      },
    };
  },
};
const doomed = {
  ...database,
  get connections() {
    return database.connections;
  },
  async transaction(work) {
    const result = await database.transaction(work);
    if (killAfterCommit) die();
    return result;
  },
};

const service = createService({
  ...settings,
  ...opened,
  database: doomed,
  gateways,
  clock: systemClock,
  log,
  publicUrl: () => 'https://pay.example',
  idempotency: { waitMs: 500, leaseSeconds: 1 },
});
await service.server.listen({ host: '127.0.0.1', port: settings.port });
process.stdout.write(`${JSON.stringify({ ready: '0', port: settings.port })}\n`);
process.once('SIGTERM', async () => {
  await service.stop();
  await opened.close();
  process.exit(0);
});
