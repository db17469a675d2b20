import type { Gateways } from '../../gateways/gateway-registry.js';
import { OperatorError } from '../../operator/operator.js';
import type { Clock } from '../../platform/clock.js';
import type { OpenedDatabase } from '../../platform/installation/open-database.js';
import type { Settings } from '../../platform/settings.js';

/** Loads the gateways of the payment channels on first use, because most commands need no HTTP client. */
export function createGatewaysOnDemand(
  { database, vault, currency }: OpenedDatabase,
  { environment, readsOnly, peers }: Pick<Settings, 'environment' | 'readsOnly' | 'peers'>,
  clock: Clock,
): Gateways & { close(): Promise<void> } {
  let loaded: Promise<Gateways> | undefined;
  const load = async () => {
    const [
      { createGatewayRegistry: gatewayRegistry },
      { createBridgeGateway: bridgeGateway },
      { createSandboxGateway: sandboxGateway },
      { createCurrencyAlert: currencyAlert },
      { createPeerAccess: peerAccess },
    ] = await Promise.all([
      import('../../gateways/gateway-registry.js'),
      import('../../gateways/bridge/bridge-gateway.js'),
      import('../../gateways/sandbox/sandbox-gateway.js'),
      import('../../gateways/currency-alert.js'),
      import('../../platform/http-client/peer-access.js'),
    ]);
    const access = peerAccess(peers);
    return gatewayRegistry(
      { database, vault, environment },
      {
        sandbox: () => sandboxGateway(clock),
        bridge: (url, key, code) => {
          const onHandshake = currencyAlert(database, code, currency);
          return bridgeGateway({ url, key, currency, onHandshake, clock, peers: access });
        },
      },
    );
  };
  return {
    async of(code) {
      if (readsOnly) throw new OperatorError('ENGINE is off: institutions are not called');
      loaded ??= load();
      return (await loaded).of(code);
    },
    async close() {
      await (await loaded)?.close?.();
    },
  };
}
