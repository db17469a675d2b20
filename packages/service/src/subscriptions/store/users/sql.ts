import type { Queryable } from '../../../platform/db/database.js';

export interface UserRow {
  readonly channelUserId: string;
  readonly mobileHash: Buffer;
  /** Sealed. */
  readonly mobile: string;
}

const USER_COLUMNS = 'channel_user_id as "channelUserId", mobile_hash as "mobileHash", mobile';

export async function findUser(db: Queryable, channelId: number, channelUserId: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(
    {
      name: 'find-user',
      text: `select ${USER_COLUMNS} from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2)`,
    },
    [channelId, channelUserId],
  );
  return row;
}

/** Whoever has the id or the number: nobody, one user, or two. */
export async function findUsersOf(
  db: Queryable,
  channelId: number,
  channelUserId: string,
  mobileHash: Buffer,
): Promise<UserRow[]> {
  return db.query<UserRow>(
    {
      name: 'find-users-of',
      text: `select ${USER_COLUMNS} from channel_users
             where channel_id = $1 and (key_of(channel_user_id) = key_of($2) or mobile_hash = $3)`,
    },
    [channelId, channelUserId, mobileHash],
  );
}

/** False when the id or the number is taken. Waits for a transaction that is about to take either. */
export async function insertUser(tx: Queryable, channelId: number, user: UserRow, boundAt: number): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'insert-user',
      text: `insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile, bound_at)
             values ($1, $2, $3, $4, to_timestamp($5::double precision / 1000))
             on conflict do nothing returning 1`,
    },
    [channelId, user.channelUserId, user.mobileHash, user.mobile, boundAt],
  );
  return rows.length === 1;
}
