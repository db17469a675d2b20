import type { Queryable } from '../db/database.js';

/** Every place where a key is kept under the master key: a column, and what tells its rows apart. */
const PLACES = {
  'data keys of channels': { table: 'channels', id: 'channel_id', column: 'data_key' },
  'keys of bridges': { table: 'payment_channels', id: 'code', column: 'gateway_key' },
  'keys of suppliers': { table: 'benefit_fulfilments', id: 'benefit_code', column: 'supplier_key' },
  'keys of the installation': { table: 'look_up_keys', id: 'purpose', column: 'wrapped' },
} as const;
export type KeyPlace = keyof typeof PLACES;
export const KEY_PLACES = Object.keys(PLACES) as KeyPlace[];

export interface WrappedKey {
  /** Of its row. */
  readonly id: string;
  /** It begins with what names its master key. */
  readonly wrapped: string;
}

export async function findWrappedKeys(db: Queryable, place: KeyPlace): Promise<WrappedKey[]> {
  const { table, id, column } = PLACES[place];
  return db.query(
    `select ${id}::text as id, ${column} as wrapped from ${table} where ${column} is not null order by ${table}.${id}`,
  );
}

/** Some of those that are not under this master key, with their rows locked. */
export async function lockOtherKeys(
  tx: Queryable,
  place: KeyPlace,
  { keyId, limit }: { readonly keyId: string; readonly limit: number },
): Promise<WrappedKey[]> {
  const { table, id, column } = PLACES[place];
  return tx.query(
    `select ${id}::text as id, ${column} as wrapped from ${table}
     where ${column} is not null and split_part(${column}, '.', 1) <> $1
     order by ${table}.${id} limit $2 for no key update`,
    [keyId, limit],
  );
}

export async function storeWrappedKey(tx: Queryable, place: KeyPlace, { id, wrapped }: WrappedKey): Promise<void> {
  const { table, id: name, column } = PLACES[place];
  await tx.query(`update ${table} set ${column} = $2 where ${name}::text = $1`, [id, wrapped]);
}

export async function countWrappedKeys(db: Queryable, place: KeyPlace): Promise<number> {
  const { table, column } = PLACES[place];
  const [row] = await db.query<{ count: number }>(`select count(${column}) as count from ${table}`);
  return row?.count ?? 0;
}

/** What names the master keys that the wrapped keys are under, each once. */
export async function findMasterKeyIds(db: Queryable): Promise<string[]> {
  const ids = Object.values(PLACES).map(
    ({ table, column }) => `select split_part(${column}, '.', 1) as id from ${table} where ${column} is not null`,
  );
  return (await db.query<{ id: string }>(`${ids.join(' union ')} order by id`)).map(({ id }) => id);
}

/** The secrets of all channels, sealed under their data keys. */
export async function findSealedSecrets(
  db: Queryable,
): Promise<{ appId: string; dataKey: string; appSecret: string; aesKey: string; callbackSecret: string }[]> {
  return db.query(
    `select app_id as "appId", data_key as "dataKey", app_secret as "appSecret", aes_key as "aesKey",
       callback_secret as "callbackSecret"
     from channels order by app_id`,
  );
}
