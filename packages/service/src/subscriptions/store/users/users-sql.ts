import { columns, type Queryable, queryOne, type RowOf, statement } from '../../../platform/db/database.js';

export type UserRow = RowOf<typeof USER_COLUMNS>;

const USER_FIELDS = 'channel_user_id as "channelUserId", mobile_hash as "mobileHash", mobile';

const USER_COLUMNS = columns({
  channelUserId: 'text',
  mobileHash: 'bytea',
  /** Sealed. */
  mobile: 'text',
});

const FIND_USER = statement({
  name: 'find-user',
  text: `select ${USER_FIELDS} from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2)`,
  parameters: ['bigint', 'text'],
  columns: USER_COLUMNS,
});

export async function findUser(db: Queryable, channelId: number, channelUserId: string): Promise<UserRow | undefined> {
  return queryOne(db, FIND_USER, [channelId, channelUserId]);
}

const FIND_USERS_BY_ID_OR_MOBILE = statement({
  name: 'find-users-of',
  text: `select ${USER_FIELDS} from channel_users
             where channel_id = $1 and (key_of(channel_user_id) = key_of($2) or mobile_hash = $3)`,
  parameters: ['bigint', 'text', 'bytea'],
  columns: USER_COLUMNS,
});

/** Users with this id or this mobile: none, one, or two. */
export async function findUsersByIdOrMobile(
  db: Queryable,
  channelId: number,
  channelUserId: string,
  mobileHash: Buffer,
): Promise<UserRow[]> {
  return db.query(FIND_USERS_BY_ID_OR_MOBILE, [channelId, channelUserId, mobileHash]);
}

const INSERT_USER = statement({
  name: 'insert-user',
  text: `insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile, bound_at)
             values ($1, $2, $3, $4, to_timestamp($5::double precision / 1000))
             on conflict do nothing returning 1`,
  parameters: ['bigint', 'text', 'bytea', 'text', 'double precision'],
});

/** False when the id or the mobile is taken. Waits for a transaction that is about to take one of them. */
export async function insertUser(tx: Queryable, channelId: number, user: UserRow, boundAt: number): Promise<boolean> {
  const rows = await tx.query(INSERT_USER, [channelId, user.channelUserId, user.mobileHash, user.mobile, boundAt]);
  return rows.length === 1;
}
