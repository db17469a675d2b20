import type { Logger } from 'pino';
import type { Catalog } from '../catalog/products/catalog.js';
import type { Gateways } from '../gateways/gateway-registry.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { NumberSupply } from '../platform/db/sharing/number-supply.js';
import type { KeyedHasher } from '../platform/secrets/keyed-hasher.js';
import type { Environment } from '../platform/settings.js';
import type { SubscriptionCounts } from '../subscriptions/domain/counts.js';
import type { RedeemLinks } from '../subscriptions/domain/orders/redeem-links.js';

/** Dependencies of the endpoints. Each endpoint picks the ones it needs. */
export interface ApiDeps {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly gateways: Gateways;
  readonly institutionNumbers: KeyedHasher;
  readonly bankMobiles: KeyedHasher;
  readonly orderNumbers: NumberSupply;
  readonly agreementNumbers: NumberSupply;
  readonly links: RedeemLinks;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  readonly counts?: SubscriptionCounts;
  /** Replaces the deadline of the policy in tests. */
  readonly debitDeadlineMs?: number;
}
