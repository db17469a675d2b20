import type { Logger } from 'pino';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { Fulfilments } from '../fulfilment/fulfilment-registry.js';
import type { Gateways } from '../gateways/gateway-registry.js';
import type { Cell } from '../platform/cells.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../platform/db/database.js';
import type { Vault } from '../platform/secrets/vault.js';
import type { Environment } from '../platform/settings.js';
import type { SubscriptionCounts } from '../subscriptions/domain/counts.js';
import type { SettleInBatch } from '../subscriptions/steps/payments/batch-settler.js';

/** The dependencies of a node's jobs. Each job picks those that it needs. */
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
  /** This node's cell, and all cells of the installation. Default: 0, and only that. */
  readonly cell?: number | undefined;
  readonly cells?: readonly Cell[];
  readonly counts?: SubscriptionCounts;
  /** Returns true if the node is stopping. Jobs then begin no new work. */
  readonly stopping?: () => boolean;
  /** Replaces the policy's timeout in tests. */
  readonly debitDeadlineMs?: number;
}
