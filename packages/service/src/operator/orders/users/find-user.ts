import type { Channel } from '../../../catalog/channels/channel.js';
import { createChannelRegistry } from '../../../catalog/channels/channel-registry.js';
import { NotFoundError, type Operator, refusal } from '../../operator.js';
import { createNotFound } from '../../rules.js';

export interface UserInput {
  readonly appId: string;
  readonly channelUserId: string;
}

export async function requireChannelOf({ database, vault }: Operator, appId: string): Promise<Channel> {
  const channel = await createChannelRegistry(database, vault).get(appId);
  if (!channel) throw createNotFound('channel', appId);
  return channel;
}

/**
 * The maximum number of orders of one user. An id with more orders is not a single person: some channels use one id for
 * all customers.
 */
export const MAX_ORDERS_OF_USER = 10_000;

export function requireFewOrders({ appId }: UserInput, orderNos: readonly number[]): void {
  if (orderNos.length <= MAX_ORDERS_OF_USER) return;
  throw refusal(
    'user-of-too-many-orders',
  )`a user of ${appId} has more than ${MAX_ORDERS_OF_USER} orders, so it is not a single person`;
}

/** The texts do not contain the user's id, because approvals store the text of a failed export or erasure. */
export function createNoSuchUser({ appId }: UserInput): NotFoundError {
  return refusal('no-such-user', NotFoundError)`channel ${appId} has no such user`;
}

/** Returns a hash of a user's id, which only a holder of the channel's key can compute. */
export const hashUser = ({ sealing }: Channel, channelUserId: string): Buffer => sealing.hash(channelUserId, 'user');

/**
 * Returns the subject of audit entries about a user: a hash, because the id would stay in the chain after an erasure.
 */
export const userSubject = (hash: Buffer): string => `user-${hash.toString('hex')}`;
