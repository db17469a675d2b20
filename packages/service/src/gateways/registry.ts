import { columns, type Queryable, statement } from '../platform/db/database.js';
import { createBatcher } from '../platform/db/sharing/batcher.js';
import type { Gateway } from './gateway.js';

/** The gateway of each payment channel, by its code. */
export interface Gateways {
  of(paymentChannelCode: string): Promise<Gateway>;
  close?(): Promise<void>;
}

export class NoSuchGateway extends Error {}

interface GatewayRow {
  readonly code: string;
  readonly gateway: string;
  readonly gatewayUrl: string | null;
  readonly gatewayKey: string | null;
}

export interface GatewayMakers {
  readonly sandbox: () => Gateway;
  readonly bridge: (url: string, wrappedKey: string) => Gateway;
}

const RUN = statement({
  name: 'find-gateways',
  text: `select code, gateway, gateway_url as "gatewayUrl", gateway_key as "gatewayKey"
                 from payment_channels where code = any($1::text[])`,
  parameters: ['text[]'],
  columns: columns<GatewayRow>({ code: 'text', gateway: 'text', gatewayUrl: 'text?', gatewayKey: 'text?' }),
});

/**
 * Asked for each debit, so that what an operator changes holds from the next one on; those who ask at the same time share
 * the statement. A gateway is made once per address and key: it may hold connections.
 */
export function gatewayRegistry(db: Queryable, makers: GatewayMakers): Gateways {
  const find = createBatcher({
    maxBatch: 64,
    slots: 2,
    async run(codes: readonly string[]) {
      const rows = await db.query(RUN, [[...new Set(codes)]]);
      return codes.map((code) => rows.find((row) => row.code === code));
    },
  });
  const made = new Map<string, Gateway>();
  const once = (name: string, make: () => Gateway): Gateway => {
    const gateway = made.get(name) ?? make();
    made.set(name, gateway);
    return gateway;
  };
  return {
    async of(code) {
      const row = await find(code);
      if (!row) throw new NoSuchGateway(`there is no payment channel ${code}`);
      if (row.gateway === 'sandbox') return once('sandbox', makers.sandbox);
      const { gatewayUrl, gatewayKey } = row;
      if (gatewayUrl === null || gatewayKey === null) throw new Error(`payment channel ${code} has no bridge`);
      return once(`${gatewayUrl} ${gatewayKey}`, () => makers.bridge(gatewayUrl, gatewayKey));
    },
    async close() {
      await Promise.all([...made.values()].map((gateway) => gateway.close?.()));
    },
  };
}
