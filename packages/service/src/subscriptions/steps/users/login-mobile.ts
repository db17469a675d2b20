import { Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Queryable } from '../../../platform/db/database.js';
import { findUsersByIdOrMobile, insertUser, type UserRow } from '../../store/users/users-sql.js';

/**
 * Returns 'bound' if user and mobile are bound to each other, 'new' if neither is bound. Otherwise rejects: first if
 * the user has another mobile, then if the mobile has another user.
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

/** Binds user and mobile for good, unless they are bound already. Rejects like `checkUserMobile`, also in a race. */
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
  // Another transaction has bound one of the two and committed, so check again.
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

/** In quotes, because the log removes quoted values from messages. */
const loginMobilePlace = (channelUserId: string) => `login mobile of "${channelUserId}"`;
