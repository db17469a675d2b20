// A node of the service, from the compiled code, that kills itself with SIGKILL at named points of a creation or of a
// card's confirmation: before the institution is called, after it has answered, before the result is committed, or
// after the commit. The order's number or the confirmation's code names the point. test_kills records each kill, so
// that it happens only one time.

import { loadAlertTransports } from '../../dist/alerts/load-transports.js';
import { createBridgeGateway } from '../../dist/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry } from '../../dist/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../dist/gateways/sandbox/sandbox-gateway.js';
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createService } from '../../dist/service.js';

const settings = readSettings();
const log = createLog(settings.logLevel);
const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const { database, vault } = opened;
await database.query('create table if not exists test_kills (external_order_no text primary key)').catch(() => {});

let killBeforeCommit = false;
let killAfterCommit = false;
const die = () => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

async function diesAt(point, wish, about = wish) {
  if (!wish.includes(`KILL-${point}`)) return false;
  const first = await database.query(
    'insert into test_kills values ($1) on conflict do nothing returning external_order_no',
    [about],
  );
  return first.length > 0;
}

/**
 * Calls the institution. Kills the node before the call, after the call, or at the next transaction, if `wish` names
 * that point.
 */
async function doomedCall(call, wish, about = wish) {
  if (await diesAt('before-call', wish, about)) await die();
  const outcome = await call();
  if (await diesAt('after-call', wish, about)) await die();
  if (await diesAt('before-commit', wish, about)) killBeforeCommit = true;
  if (await diesAt('after-commit', wish, about)) killAfterCommit = true;
  return outcome;
}

const registry = createGatewayRegistry(
  { database, vault, environment: 'sandbox' },
  {
    sandbox: () => createSandboxGateway(systemClock),
    bridge: (url, key) => createBridgeGateway({ url, key, clock: systemClock, log }),
  },
);
const gateways = {
  async of(code) {
    const gateway = await registry.of(code);
    return {
      ...gateway,
      debit: (request) => doomedCall(() => gateway.debit(request), request.externalOrderNo),
      confirmBind: (request) => doomedCall(() => gateway.confirmBind(request), request.smsCode, request.bindOrderNo),
    };
  },
};
const doomed = {
  ...database,
  get connections() {
    return database.connections;
  },
  async transaction(work) {
    const result = await database.transaction(async (tx) => {
      const done = await work(tx);
      if (killBeforeCommit) await die();
      return done;
    });
    if (killAfterCommit) await die();
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
  alertWays: await loadAlertTransports(settings, systemClock),
  // Shorter times than usual, because the tests cannot wait.
  testLimits: { idempotency: { waitMs: 500, leaseSeconds: 1 }, alertSeconds: { resolved: 1, messages: 1 } },
});
await service.server.listen({ host: '127.0.0.1', port: settings.port });
process.stdout.write(`${JSON.stringify({ ready: '0', port: service.server.server.address().port })}\n`);
process.once('SIGTERM', async () => {
  await service.stop();
  await opened.close();
  process.exit(0);
});
