import { createHash } from 'node:crypto';
import { columns, type Queryable, queryOne, statement } from '../db/database.js';
import { isBoundKey, MisplacedKey, type Vault } from './vault.js';

/**
 * Places of wrapped keys. A key opens only for its place, so the place contains all values that the key is bound to.
 */
export const keyPlaces = {
  dataKey: (appId: string) => `data key of channel ${appId}`,
  otherDataKey: (appId: string) => `other data key of channel ${appId}`,
  lookUpKey: (appId: string) => `look-up key of channel ${appId}`,
  bridge: (code: string, url: string) => `bridge key of payment channel ${code} for ${url}`,
  supplier: (benefitCode: string, url: string) => `supplier key of benefit ${benefitCode} for ${url}`,
  installation: (purpose: string) => `key of the installation for ${purpose}`,
  secondFactor: (personId: number | string) => `second factor of person ${personId}`,
  signOn: 'verifier of a sign-in',
} as const;

/**
 * Returns a hash of each master key that this node has. The database stores one of these hashes, to recognize its
 * master key. The hash also tells whether the database's keys are bound. A database writer cannot compute the hash of
 * the other form, because that needs the master key.
 */
export function computeMasterKeyChecks(vault: Vault, form: 'bound' | 'unbound'): string[] {
  const purpose = form === 'bound' ? 'installation check, bound keys' : 'installation check';
  return vault.derivePurposeKeys(purpose).map(({ key }) => createHash('sha256').update(key).digest('hex'));
}

const CHECK = { parameters: [], columns: columns({ check: 'text' }) };
const READ_CHECK = statement({ text: 'select master_key_check as "check" from installation', ...CHECK });
/** Waits for a rewrap that changes the form, and prevents such a rewrap until the transaction ends. */
const HOLD_CHECK = statement({ text: 'select master_key_check as "check" from installation for share', ...CHECK });

/** Vaults of databases whose keys are bound. Bound keys never become unbound again. */
const binding = new WeakSet<Vault>();

async function isBinding(db: Queryable, vault: Vault, read: typeof READ_CHECK): Promise<boolean> {
  if (binding.has(vault)) return true;
  const row = await queryOne(db, read, []);
  if (row && computeMasterKeyChecks(vault, 'unbound').includes(row.check)) return false;
  if (row) binding.add(vault);
  return true;
}

/** Returns true if every key of the database is bound to its place, so that nodes refuse unbound keys. */
export const bindsKeys = (db: Queryable, vault: Vault): Promise<boolean> => isBinding(db, vault, READ_CHECK);

/** Wraps a key that the same transaction stores, in the form that all nodes of the installation can read. */
export async function wrapStoredKey(tx: Queryable, vault: Vault, key: Uint8Array, place: string): Promise<string> {
  return vault.wrapKey(key, (await isBinding(tx, vault, HOLD_CHECK)) ? place : undefined);
}

/** Opens a key from the database. Throws MisplacedKey if it was stored at another place. */
export async function openStoredKey(db: Queryable, vault: Vault, wrapped: string, place: string): Promise<Uint8Array> {
  const isAccepted = !isBoundKey(wrapped) && !(await bindsKeys(db, vault));
  return vault.unwrapKey(wrapped, place, isAccepted ? 'accepted' : 'refused');
}

/** Opens a key that may be stored for one of several places. Returns undefined if it was stored for none of them. */
export async function findStoredKey(
  db: Queryable,
  vault: Vault,
  wrapped: string,
  places: readonly string[],
): Promise<Uint8Array | undefined> {
  for (const place of places) {
    try {
      return await openStoredKey(db, vault, wrapped, place);
    } catch (error) {
      if (!(error instanceof MisplacedKey)) throw error;
    }
  }
  return undefined;
}
