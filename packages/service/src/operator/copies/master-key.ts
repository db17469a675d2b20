import { openCredentials } from '../../catalog/channels/credentials.js';
import type { Queryable } from '../../platform/db/database.js';
import { changeMasterKeyCheck } from '../../platform/installation/installation.js';
import {
  countWrappedKeys,
  findSealedSecrets,
  findWrappedKeys,
  KEY_PLACES,
  type KeyPlace,
  lockOtherKeys,
  storeWrappedKey,
  type WrappedKey,
} from '../../platform/installation/wrapped-keys-sql.js';
import { rewrapMasterKey } from '../../platform/secrets/external-key.js';
import { bindsKeys, keyPlaces, openStoredKey } from '../../platform/secrets/stored-keys.js';
import { currentKeyPrefix, isBoundKey, type Vault, VaultError } from '../../platform/secrets/vault.js';
import { type AuditEntry, recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator } from '../operator.js';

/** The number of keys rewrapped per transaction. It is small, so that nodes can use the other rows at the same time. */
const KEYS_PER_STEP = 100;
const MAX_STORED_MEANWHILE = 1_000_000;

/**
 * Wraps every key under the current master key. The keys themselves do not change. Resumes after an interruption. At
 * the end, binds the database to the current master key. Until then, nodes that have only the previous master key can
 * start. Afterwards no node needs the previous master key. `already` counts the keys that did not need rewrapping.
 */
export async function rewrapKeys(operator: Operator) {
  const { vault, actor, database, keyService } = operator;
  const [keyId] = vault.keyIds;
  const prefix = currentKeyPrefix(vault);
  const unbound = (await bindsKeys(database, vault)) ? 'refused' : 'accepted';
  let rewrapped = 0;
  // Recorded with the keys in one transaction, so that the audit log also shows an interrupted run.
  const record = (tx: Queryable, detail: AuditEntry['detail']) =>
    recordAudit(tx, { actor, action: 'master-key.rewrap', subject: 'installation', detail: { ...detail, keyId } });
  const rewrapSome = async (tx: Queryable, at: KeyPlace, limit: number) => {
    const keys = await lockOtherKeys(tx, at, { prefix, limit });
    for (const { id, wrapped, place } of keys) {
      const key = vault.unwrapKey(wrapped, place, unbound);
      await storeWrappedKey(tx, at, { id, wrapped: vault.wrapKey(key, place) });
    }
    if (keys.length > 0) await record(tx, { place: at, keys: keys.length });
    return keys.length;
  };
  for (const at of KEY_PLACES) {
    for (let step = KEYS_PER_STEP; step === KEYS_PER_STEP; rewrapped += step) {
      step = await inTransaction(operator, (tx) => rewrapSome(tx, at, KEYS_PER_STEP));
    }
  }
  const isMoved = await inTransaction(operator, async (tx) => {
    if (!(await changeMasterKeyCheck(tx, vault))) return false;
    // Rewraps the keys that were stored in the earlier form while the loop above ran.
    for (const at of KEY_PLACES) rewrapped += await rewrapSome(tx, at, MAX_STORED_MEANWHILE);
    await record(tx, { place: 'check of the installation' });
    return true;
  });
  const isExternalRewrapped = await inTransaction(operator, async (tx) => {
    const isChanged = await rewrapMasterKey(tx, keyService);
    if (isChanged) await record(tx, { place: 'master key of the key service' });
    return isChanged;
  });
  let all = 0;
  for (const at of KEY_PLACES) all += await countWrappedKeys(database, at);
  return { rewrapped, already: all - rewrapped, changed: rewrapped > 0 || isMoved || isExternalRewrapped };
}

export type MasterKeyStatus = Awaited<ReturnType<typeof readMasterKeyStatus>>;

/** Decrypts every wrapped key and the secrets of all channels, and counts the successes. */
export async function readMasterKeyStatus({ database, vault }: Operator) {
  const [currentKeyId, ...previousKeyIds] = vault.keyIds;
  const keys: Awaited<ReturnType<typeof countByKey>> = [];
  for (const place of KEY_PLACES) {
    keys.push(...(await countByKey(database, vault, place, await findWrappedKeys(database, place))));
  }
  const sealed = await findSealedSecrets(database);
  let secrets = 0;
  for (const { appId, dataKey, ...row } of sealed) {
    const place = keyPlaces.dataKey(appId);
    const open = async () => openCredentials(await openStoredKey(database, vault, dataKey, place), appId, row);
    if (await canOpen(open)) secrets += 1;
  }
  // A channel has three secrets. One data key encrypts them, so either all three open or none does.
  const channelSecrets = { count: sealed.length * 3, opened: secrets * 3 };
  const unbound = keys.reduce((sum, one) => sum + one.unbound, 0);
  return {
    currentKeyId,
    previousKeyIds,
    keys,
    channelSecrets,
    allOpen: [...keys, channelSecrets].every(({ count, opened }) => count === opened),
    isRewrapped: unbound === 0 && keys.every(({ keyId }) => keyId === currentKeyId),
    /** The number of keys in the form of earlier versions, which are not bound to their rows. */
    unbound,
  };
}

/** Counts the wrapped keys of each master key, and how many of them open. */
async function countByKey(db: Queryable, vault: Vault, what: string, wrappedKeys: readonly WrappedKey[]) {
  const counts = new Map<string, { count: number; opened: number; unbound: number }>();
  for (const { wrapped, place } of wrappedKeys) {
    const [keyId = ''] = wrapped.split('.');
    const one = counts.get(keyId) ?? { count: 0, opened: 0, unbound: 0 };
    one.count += 1;
    if (await canOpen(() => openStoredKey(db, vault, wrapped, place))) one.opened += 1;
    if (!isBoundKey(wrapped)) one.unbound += 1;
    counts.set(keyId, one);
  }
  return [...counts].map(([keyId, one]) => ({ what, keyId, ...one }));
}

async function canOpen(open: () => Promise<unknown>): Promise<boolean> {
  try {
    await open();
    return true;
  } catch (error) {
    if (error instanceof VaultError) return false;
    throw error;
  }
}
