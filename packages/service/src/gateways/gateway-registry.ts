import { columns, statement } from '../platform/db/database.js';
import { createBatcher } from '../platform/db/sharing/batcher.js';
import { keyPlaces } from '../platform/secrets/stored-keys.js';
import type { Gateway } from './gateway.js';
import { openPeerKey, type PeerKeyDeps } from './peer-key.js';

/** The gateways of payment channels, by code. */
export interface Gateways {
  of(paymentChannelCode: string): Promise<Gateway>;
  close?(): Promise<void>;
}

export class NoSuchGateway extends Error {}

export interface GatewayFactories {
  readonly sandbox: () => Gateway;
  readonly bridge: (url: string, key: Uint8Array, paymentChannelCode: string) => Gateway;
}

const FIND_GATEWAYS = statement({
  name: 'find-gateways',
  text: `select code, gateway, gateway_url as "gatewayUrl", gateway_key as "gatewayKey"
                 from payment_channels where code = any($1::text[])`,
  parameters: ['text[]'],
  columns: columns({ code: 'text', gateway: 'text', gatewayUrl: 'text?', gatewayKey: 'text?' }),
});

/**
 * Reads the payment channel for each call of `of`, so that an operator's change applies from then on. Concurrent reads
 * share a statement. Keeps one gateway per payment channel, address and key, because a gateway may hold connections.
 */
export function createGatewayRegistry(deps: PeerKeyDeps, makers: GatewayFactories): Gateways {
  const findGatewayRow = createBatcher({
    maxBatch: 64,
    slots: 2,
    async run(codes: readonly string[]) {
      const rows = await deps.database.query(FIND_GATEWAYS, [[...new Set(codes)]]);
      return codes.map((code) => rows.find((row) => row.code === code));
    },
  });
  const made = new Map<string, Promise<Gateway>>();
  const makeOnce = (name: string, make: () => Promise<Gateway>): Promise<Gateway> => {
    const gateway = made.get(name) ?? make();
    made.set(name, gateway);
    gateway.catch(() => made.delete(name));
    return gateway;
  };
  return {
    async of(code) {
      const row = await findGatewayRow(code);
      if (!row) throw new NoSuchGateway(`there is no payment channel ${code}`);
      if (row.gateway === 'sandbox') return makeOnce('sandbox', async () => makers.sandbox());
      const { gatewayUrl, gatewayKey } = row;
      if (gatewayUrl === null || gatewayKey === null) throw new Error(`payment channel ${code} has no bridge`);
      return makeOnce(`${code} ${gatewayUrl} ${gatewayKey}`, async () => {
        const place = keyPlaces.bridge(code, gatewayUrl);
        const key = await openPeerKey(deps, { subject: code, url: gatewayUrl, wrappedKey: gatewayKey, place });
        return makers.bridge(gatewayUrl, key, code);
      });
    },
    async close() {
      // A gateway that could not be created needs no closing. Its caller was given the error.
      await Promise.all([...made.values()].map(async (gateway) => (await gateway.catch(() => undefined))?.close?.()));
    },
  };
}
