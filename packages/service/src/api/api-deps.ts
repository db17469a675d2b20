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

/** What the endpoints of the interface are given; each names what it needs of it. */
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
  /** In place of the policy's, for a test that cannot wait. */
  readonly debitDeadlineMs?: number;
}
