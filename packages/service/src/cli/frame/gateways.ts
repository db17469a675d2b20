import type { Gateways } from '../../gateways/registry.js';
import { OperatorError } from '../../operator/operator.js';
import type { Clock } from '../../platform/clock.js';
import type { OpenedDatabase } from '../../platform/installation/open-database.js';

/** The gateways of the payment channels, loaded when one is asked for: most commands need no HTTP client. */
export function createGatewaysOnDemand(
  { database, vault }: OpenedDatabase,
  { clock, readsOnly }: { readonly clock: Clock; readonly readsOnly: boolean },
): Gateways & { close(): Promise<void> } {
  let loaded: Promise<Gateways> | undefined;
  const load = async () => {
    const [{ gatewayRegistry }, { bridgeGateway }, { sandboxGateway }] = await Promise.all([
      import('../../gateways/registry.js'),
      import('../../gateways/bridge/bridge.js'),
      import('../../gateways/sandbox/gateway.js'),
    ]);
    return gatewayRegistry(database, {
      sandbox: () => sandboxGateway(clock),
      bridge: (url, wrappedKey) => bridgeGateway({ url, key: vault.unwrapKey(wrappedKey), clock }),
    });
  };
  return {
    async of(code) {
      if (readsOnly) throw new OperatorError('ENGINE is off: no institution is asked for anything');
      loaded ??= load();
      return (await loaded).of(code);
    },
    async close() {
      await (await loaded)?.close?.();
    },
  };
}
