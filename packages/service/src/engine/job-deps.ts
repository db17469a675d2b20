import type { Logger } from 'pino';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { Fulfilments } from '../fulfilment/fulfilment-registry.js';
import type { Gateways } from '../gateways/gateway-registry.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { Environment } from '../platform/settings.js';
import type { SubscriptionCounts } from '../subscriptions/domain/counts.js';
import type { SettleInBatch } from '../subscriptions/steps/payments/batch-settler.js';

/** What the jobs of a node are given; each names what it needs of it. */
export interface JobDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly fulfilments: Fulfilments;
  readonly settle: SettleInBatch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  readonly counts?: SubscriptionCounts;
  /** A node that is stopping begins nothing more. */
  readonly stopping?: () => boolean;
  /** In place of the policy's, for a test that cannot wait. */
  readonly debitDeadlineMs?: number;
}
