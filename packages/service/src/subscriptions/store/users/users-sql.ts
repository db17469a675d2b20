import { columns, declareFind, declareHas, declareList, type RowOf } from '../../../platform/db/database.js';

export type UserRow = RowOf<typeof USER_COLUMNS>;

const USER_FIELDS = 'channel_user_id as "channelUserId", mobile_hash as "mobileHash", mobile';

const USER_COLUMNS = columns({
  channelUserId: 'text',
  mobileHash: 'bytea',
  /** Sealed. */
  mobile: 'text',
});

export const findUser = declareFind({
  name: 'find-user',
  text: `select ${USER_FIELDS} from channel_users where channel_id = $1 and key_of(channel_user_id) = key_of($2)`,
  parameters: ['bigint', 'text'],
  columns: USER_COLUMNS,
});

export const findUsersByIdOrMobile = declareList({
  name: 'find-users-of',
  text: `select ${USER_FIELDS} from channel_users
             where channel_id = $1 and (key_of(channel_user_id) = key_of($2) or mobile_hash = $3)`,
  parameters: ['bigint', 'text', 'bytea'],
  columns: USER_COLUMNS,
});

/**
 * Binds the user to another mobile. Returns false if the user's mobile has changed since. Throws a unique violation if
 * another user of the channel has the mobile.
 */
export const storeMobile = declareHas({
  name: 'store-mobile',
  text: `update channel_users set mobile_hash = $4, mobile = $5
             where channel_id = $1 and key_of(channel_user_id) = key_of($2) and mobile_hash = $3 returning 1`,
  parameters: {
    channelId: 'bigint',
    channelUserId: 'text',
    formerHash: 'bytea',
    mobileHash: 'bytea',
    mobile: 'text',
  },
});

/**
 * Binds a user id and a mobile. Returns false if one of them is taken. If a concurrent transaction binds one of them,
 * waits for that transaction.
 */
export const insertUser = declareHas({
  name: 'insert-user',
  text: `insert into channel_users (channel_id, channel_user_id, mobile_hash, mobile, bound_at)
             values ($1, $2, $3, $4, to_timestamp($5::double precision / 1000))
             on conflict do nothing returning 1`,
  parameters: {
    channelId: 'bigint',
    channelUserId: 'text',
    mobileHash: 'bytea',
    mobile: 'text',
    boundAt: 'double precision',
  },
});
