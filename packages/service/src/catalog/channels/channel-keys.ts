import type { Queryable } from '../../platform/db/database.js';
import { keyPlaces, openStoredKey } from '../../platform/secrets/stored-keys.js';
import type { Vault } from '../../platform/secrets/vault.js';
import type { ChannelRow } from './channels-sql.js';
import type { SealingKeys } from './sealing.js';

export type WrappedChannelKeys = Pick<ChannelRow, 'appId' | 'dataKey' | 'otherDataKey' | 'lookUpKey'>;

export async function openChannelKeys(
  db: Queryable,
  vault: Vault,
  { appId, dataKey, otherDataKey, lookUpKey }: WrappedChannelKeys,
): Promise<SealingKeys> {
  const open = async (wrapped: string | null, place: string) =>
    wrapped === null ? undefined : openStoredKey(db, vault, wrapped, place);
  return {
    dataKey: await openStoredKey(db, vault, dataKey, keyPlaces.dataKey(appId)),
    otherKey: await open(otherDataKey, keyPlaces.otherDataKey(appId)),
    lookUpKey: await open(lookUpKey, keyPlaces.lookUpKey(appId)),
  };
}
