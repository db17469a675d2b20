import { openCredentials } from '../../catalog/channels/credentials.js';
import { changeMasterKeyCheck } from '../../platform/installation/installation.js';
import {
  countWrappedKeys,
  findSealedSecrets,
  findWrappedKeys,
  KEY_PLACES,
  lockOtherKeys,
  storeWrappedKey,
} from '../../platform/installation/wrapped-keys-sql.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator } from '../operator.js';

/** The number of keys rewrapped per transaction. It is small, so that nodes can use the other rows at the same time. */
const KEYS_PER_STEP = 100;

/**
 * Wraps every key under the current master key. The keys themselves do not change. Resumes after an interruption. At
 * the end, binds the database to the current master key. Until then, nodes that have only the previous master key can
 * start. Afterwards no node needs the previous master key. `already` counts the keys that did not need rewrapping.
 */
export async function rewrapKeys(operator: Operator) {
  const { vault, actor, database } = operator;
  const [keyId] = vault.keyIds;
  let rewrapped = 0;
  let all = 0;
  for (const place of KEY_PLACES) {
    for (let step = KEYS_PER_STEP; step === KEYS_PER_STEP; rewrapped += step) {
      step = await inTransaction(operator, async (tx) => {
        const keys = await lockOtherKeys(tx, place, { keyId, limit: KEYS_PER_STEP });
        for (const { id, wrapped } of keys) {
          await storeWrappedKey(tx, place, { id, wrapped: vault.wrapKey(vault.unwrapKey(wrapped)) });
        }
        // Recorded with the keys in one transaction, so that the audit log also shows an interrupted run.
        const detail = { place, keys: keys.length, keyId };
        if (keys.length > 0)
          await recordAudit(tx, { actor, action: 'master-key.rewrap', subject: 'installation', detail });
        return keys.length;
      });
    }
    all += await countWrappedKeys(database, place);
  }
  const isMoved = await inTransaction(operator, async (tx) => {
    if (!(await changeMasterKeyCheck(tx, vault))) return false;
    const detail = { place: 'check of the installation', keyId };
    await recordAudit(tx, { actor, action: 'master-key.rewrap', subject: 'installation', detail });
    return true;
  });
  return { rewrapped, already: all - rewrapped, changed: rewrapped > 0 || isMoved };
}

export type MasterKeyStatus = Awaited<ReturnType<typeof readMasterKeyStatus>>;

/** Decrypts every key and secret that depends on the master key, and counts the successes. */
export async function readMasterKeyStatus({ database, vault }: Operator) {
  const [currentKeyId, ...previousKeyIds] = vault.keyIds;
  const keys: ReturnType<typeof countByKey> = [];
  for (const place of KEY_PLACES) keys.push(...countByKey(vault, place, await findWrappedKeys(database, place)));
  const sealed = await findSealedSecrets(database);
  const secrets = sealed.filter((row) => canOpen(() => openCredentials(vault, row.appId, row))).length;
  // A channel has three secrets. One data key encrypts them, so either all three open or none does.
  const channelSecrets = { count: sealed.length * 3, opened: secrets * 3 };
  return {
    currentKeyId,
    previousKeyIds,
    keys,
    channelSecrets,
    allOpen: [...keys, channelSecrets].every(({ count, opened }) => count === opened),
    isRewrapped: keys.every(({ keyId }) => keyId === currentKeyId),
  };
}

/** Counts the wrapped keys of each master key, and how many of them open. */
function countByKey(vault: Vault, what: string, wrappedKeys: readonly { readonly wrapped: string }[]) {
  const counts = new Map<string, { count: number; opened: number }>();
  for (const { wrapped } of wrappedKeys) {
    const [keyId = ''] = wrapped.split('.');
    const one = counts.get(keyId) ?? { count: 0, opened: 0 };
    one.count += 1;
    if (canOpen(() => vault.unwrapKey(wrapped))) one.opened += 1;
    counts.set(keyId, one);
  }
  return [...counts].map(([keyId, one]) => ({ what, keyId, ...one }));
}

function canOpen(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}
