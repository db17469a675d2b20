import { columns, declareList, type Queryable, queryOne, type RowOf, statement } from '../db/database.js';
import { keyPlaces } from '../secrets/stored-keys.js';

/** The columns that contain keys wrapped under the master key, each with its table's primary key. */
const PLACES = {
  'data keys of channels': declareKeyPlace('channels', 'channel_id', 'data_key', 'app_id', keyPlaces.dataKey),
  'look-up keys of channels': declareKeyPlace('channels', 'channel_id', 'look_up_key', 'app_id', keyPlaces.lookUpKey),
  'other data keys of channels': declareKeyPlace(
    'data_key_rotations',
    'channel_id',
    'other_key',
    '(select app_id from channels c where c.channel_id = data_key_rotations.channel_id)',
    keyPlaces.otherDataKey,
  ),
  'keys of bridges': declareKeyPlace('payment_channels', 'code', 'gateway_key', 'code, gateway_url', keyPlaces.bridge),
  'keys of suppliers': declareKeyPlace(
    'benefit_fulfilments',
    'benefit_code',
    'supplier_key',
    'benefit_code, supplier_url',
    keyPlaces.supplier,
  ),
  'keys of the installation': declareKeyPlace('look_up_keys', 'purpose', 'wrapped', 'purpose', keyPlaces.installation),
  'second factors of people': declareKeyPlace(
    'people',
    'person_id',
    'totp_secret',
    'person_id::text',
    keyPlaces.secondFactor,
  ),
  'second factors in setup': declareKeyPlace(
    'people',
    'person_id',
    'totp_pending',
    'person_id::text',
    keyPlaces.secondFactor,
  ),
} as const;
export type KeyPlace = keyof typeof PLACES;
export const KEY_PLACES = Object.keys(PLACES) as KeyPlace[];

export interface WrappedKey {
  /** Primary key of the row. */
  readonly id: string;
  /** Begins with the id of its master key. */
  readonly wrapped: string;
  readonly place: string;
}

/** `owner`: the columns that `toPlace` needs. */
function declareKeyPlace(
  table: string,
  id: string,
  column: string,
  owner: string,
  toPlace: (...owner: [string, string]) => string,
) {
  const wrappedKey = columns({ id: 'text', wrapped: 'text', owner: 'text[]' });
  const selected = `select ${id}::text as id, ${column} as wrapped, array[${owner}] as owner from ${table}`;
  return {
    toPlace,
    find: statement({
      text: `${selected} where ${column} is not null order by ${table}.${id}`,
      parameters: [],
      columns: wrappedKey,
    }),
    lockOthers: statement({
      text: `${selected} where ${column} is not null and not starts_with(${column}, $1)
       order by ${table}.${id} limit $2 for no key update of ${table}`,
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

const toWrappedKeys = (at: KeyPlace, rows: readonly RowOf<(typeof PLACES)[KeyPlace]['find']>[]): WrappedKey[] =>
  rows.map(({ id, wrapped, owner: [first = '', second = ''] }) => ({
    id,
    wrapped,
    place: PLACES[at].toPlace(first, second),
  }));

export async function findWrappedKeys(db: Queryable, at: KeyPlace): Promise<WrappedKey[]> {
  return toWrappedKeys(at, await db.query(PLACES[at].find));
}

/**
 * Locks and returns up to `limit` keys that do not start with `prefix`, because they are under another master key or
 * unbound.
 */
export async function lockOtherKeys(
  tx: Queryable,
  at: KeyPlace,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<WrappedKey[]> {
  return toWrappedKeys(at, await tx.query(PLACES[at].lockOthers, [prefix, limit]));
}

export async function storeWrappedKey(
  tx: Queryable,
  at: KeyPlace,
  { id, wrapped }: Omit<WrappedKey, 'place'>,
): Promise<void> {
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
