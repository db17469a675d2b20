import { Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Queryable } from '../../../platform/db/database.js';
import { findUsersByIdOrMobile, insertUser, type UserRow } from '../../store/users/users-sql.js';

/**
 * Returns 'bound' if the user and the mobile are bound to each other, 'new' if neither is bound. Throws if the user is
 * bound to a different mobile, or else if the mobile is bound to a different user.
 */
export async function checkUserMobile(
  db: Queryable,
  channel: Channel,
  channelUserId: string,
  mobile: string,
): Promise<'bound' | 'new'> {
  const mobileHash = channel.sealing.hash(mobile, 'mobile');
  const users = await findUsersByIdOrMobile(db, channel.channelId, channelUserId, mobileHash);
  const user = users.find((one) => one.channelUserId === channelUserId);
  if (user) {
    if (!user.mobileHash.equals(mobileHash)) throw new Rejection('CHANNEL_USER_MOBILE_MISMATCH');
    return 'bound';
  }
  if (users.length > 0) throw new Rejection('CHANNEL_MOBILE_OCCUPIED');
  return 'new';
}

/**
 * Binds the user and the mobile permanently, unless they are bound already. Throws like `checkUserMobile`, also if a
 * concurrent transaction binds one of them first.
 */
export async function bindUserMobile(
  tx: Queryable,
  channel: Channel,
  channelUserId: string,
  mobile: string,
  now: number,
): Promise<void> {
  if ((await checkUserMobile(tx, channel, channelUserId, mobile)) === 'bound') return;
  const user = createUserRow(channel, channelUserId, mobile);
  if (await insertUser(tx, { channelId: channel.channelId, ...user, boundAt: now })) return;
  // A concurrent transaction has bound the user or the mobile and committed, so the check must find it now.
  if ((await checkUserMobile(tx, channel, channelUserId, mobile)) === 'new') {
    throw new Error('a channel user was in the way and is not there');
  }
}

export function createUserRow({ sealing }: Channel, channelUserId: string, mobile: string): UserRow {
  return {
    channelUserId,
    mobileHash: sealing.hash(mobile, 'mobile'),
    mobile: sealing.seal(mobile, loginMobilePlace(channelUserId)),
  };
}

export type StoredUser = Pick<UserRow, 'channelUserId' | 'mobile'>;

export function unsealUserMobile({ sealing }: Channel, { channelUserId, mobile }: StoredUser): string {
  return sealing.unseal(mobile, loginMobilePlace(channelUserId));
}

/** The user id is in quotes, because the log removes quoted values from messages. */
export const loginMobilePlace = (channelUserId: string) => `login mobile of "${channelUserId}"`;
