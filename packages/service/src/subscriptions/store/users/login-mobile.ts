import { Rejection } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Queryable } from '../../../platform/db/database.js';
import { findUsersByIdOrMobile, insertUser, type UserRow } from './users-sql.js';

/** Whether the pair is bound already, or both are free. Anything else is refused, the user's own number first. */
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

/** Binds for good, or finds them bound to each other, or throws what `checkUserMobile` throws; also in a race. */
export async function bindUserMobile(
  tx: Queryable,
  channel: Channel,
  channelUserId: string,
  mobile: string,
  now: number,
): Promise<void> {
  if ((await checkUserMobile(tx, channel, channelUserId, mobile)) === 'bound') return;
  if (await insertUser(tx, channel.channelId, createUserRow(channel, channelUserId, mobile), now)) return;
  // Somebody was faster, and has committed: who and with what decides.
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

/** In quotes, as the log takes quoted values out of messages. */
const loginMobilePlace = (channelUserId: string) => `login mobile of "${channelUserId}"`;
