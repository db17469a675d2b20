import { columns, declareList, type Queryable, queryOne, type RowOf, statement } from '../db/database.js';

/** The columns that contain keys wrapped under the master key, each with its table's primary key. */
const PLACES = {
  'data keys of channels': declareKeyPlace('channels', 'channel_id', 'data_key'),
  'keys of bridges': declareKeyPlace('payment_channels', 'code', 'gateway_key'),
  'keys of suppliers': declareKeyPlace('benefit_fulfilments', 'benefit_code', 'supplier_key'),
  'keys of the installation': declareKeyPlace('look_up_keys', 'purpose', 'wrapped'),
  'second factors of people': declareKeyPlace('people', 'person_id', 'totp_secret'),
} as const;
export type KeyPlace = keyof typeof PLACES;
export const KEY_PLACES = Object.keys(PLACES) as KeyPlace[];

/** `id` is the primary key of the row. `wrapped` is the wrapped key, which begins with its master key's id. */
export type WrappedKey = RowOf<(typeof PLACES)[KeyPlace]['find']>;

function declareKeyPlace(table: string, id: string, column: string) {
  const wrappedKey = columns({ id: 'text', wrapped: 'text' });
  return {
    find: statement({
      text: `select ${id}::text as id, ${column} as wrapped from ${table} where ${column} is not null order by ${table}.${id}`,
      parameters: [],
      columns: wrappedKey,
    }),
    lockOthers: statement({
      text: `select ${id}::text as id, ${column} as wrapped from ${table}
       where ${column} is not null and split_part(${column}, '.', 1) <> $1
       order by ${table}.${id} limit $2 for no key update`,
      parameters: ['text', 'bigint'],
      columns: wrappedKey,
    }),
    store: statement({
      text: `update ${table} set ${column} = $2 where ${id}::text = $1`,
      parameters: ['text', 'text'],
    }),
    count: statement({
      text: `select count(${column}) as count from ${table}`,
      parameters: [],
      columns: columns({ count: 'bigint' }),
    }),
    masterKeys: `select split_part(${column}, '.', 1) as id from ${table} where ${column} is not null`,
  };
}

export async function findWrappedKeys(db: Queryable, at: KeyPlace): Promise<WrappedKey[]> {
  return db.query(PLACES[at].find);
}

/** Locks and returns up to `limit` keys that are wrapped under a master key other than `keyId`. */
export async function lockOtherKeys(
  tx: Queryable,
  at: KeyPlace,
  { keyId, limit }: { readonly keyId: string; readonly limit: number },
): Promise<WrappedKey[]> {
  return tx.query(PLACES[at].lockOthers, [keyId, limit]);
}

export async function storeWrappedKey(tx: Queryable, at: KeyPlace, { id, wrapped }: WrappedKey): Promise<void> {
  await tx.query(PLACES[at].store, [id, wrapped]);
}

export async function countWrappedKeys(db: Queryable, at: KeyPlace): Promise<number> {
  return (await queryOne(db, PLACES[at].count))?.count ?? 0;
}

export const findMasterKeyIds = declareList({
  text: `${Object.values(PLACES)
    .map(({ masterKeys }) => masterKeys)
    .join(' union ')} order by id`,
  parameters: [],
  columns: columns({ id: 'text' }),
  value: ({ id }) => id,
});

/** Returns the secrets of all channels, encrypted with the channels' data keys. */
export const findSealedSecrets = declareList({
  text: `select app_id as "appId", data_key as "dataKey", app_secret as "appSecret", aes_key as "aesKey",
       callback_secret as "callbackSecret"
     from channels order by app_id`,
  parameters: [],
  columns: columns({
    appId: 'text',
    dataKey: 'text',
    appSecret: 'text',
    aesKey: 'text',
    callbackSecret: 'text',
  }),
});
