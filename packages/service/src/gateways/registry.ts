import type { Queryable } from '../db/database.js';
import type { Gateway } from './gateway.js';

/** The gateway of each payment channel, by its code. */
export interface Gateways {
  /** `db` in place of the registry's own, for a request. */
  of(paymentChannelCode: string, db?: Queryable): Promise<Gateway>;
  close?(): Promise<void>;
}

export class NoSuchGateway extends Error {}

interface GatewayRow {
  readonly gateway: string;
  readonly gatewayUrl: string | null;
  readonly gatewayKey: string | null;
}

export interface GatewayMakers {
  readonly sandbox: () => Gateway;
  readonly bridge: (url: string, wrappedKey: string) => Gateway;
}

/** A gateway is made once per address and key: it may hold connections. */
export function gatewayRegistry(own: Queryable, makers: GatewayMakers): Gateways {
  const made = new Map<string, Gateway>();
  const once = (name: string, make: () => Gateway): Gateway => {
    const gateway = made.get(name) ?? make();
    made.set(name, gateway);
    return gateway;
  };
  return {
    async of(code, db = own) {
      const [row] = await db.query<GatewayRow>(
        {
          name: 'find-gateway',
          text: `select gateway, gateway_url as "gatewayUrl", gateway_key as "gatewayKey"
                 from payment_channels where code = $1`,
        },
        [code],
      );
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
