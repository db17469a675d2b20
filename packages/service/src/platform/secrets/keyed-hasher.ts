import { hmacSha256 } from '@perennial/wire';
import { columns, type Database, type Queryable, queryOne, statement } from '../db/database.js';
import { normalizeNumber } from '../normalize-number.js';
import { computeMasterKeyChecks, keyPlaces, openStoredKey } from './stored-keys.js';
import { createKey, type Vault } from './vault.js';

export type KeyPurpose = 'institution numbers' | 'bank mobiles' | 'pool codes' | 'audit log' | 'reads' | 'cells';

/** The statement itself chooses the bound or the unbound form, because the caller may have no transaction. */
const INSERT_LOOK_UP_KEYS = statement({
  text: `with form as (select master_key_check = any($4::text[]) as unbound from installation for share)
     insert into look_up_keys (purpose, wrapped)
     values ($1, case when (select unbound from form) then $3 else $2 end) on conflict do nothing`,
  parameters: ['text', 'text', 'text', 'text[]'],
});

const FIND_LOOK_UP_KEYS = statement({
  text: 'select wrapped from look_up_keys where purpose = $1',
  parameters: ['text'],
  columns: columns({ wrapped: 'text' }),
});

/**
 * Returns a key of the installation for one purpose. It is created at first use and never changes. It is stored wrapped
 * under the master key, so hashes made with it stay valid when the master key changes.
 */
export async function readOrCreateInstallationKey(
  db: Queryable,
  vault: Vault,
  purpose: KeyPurpose,
): Promise<Uint8Array> {
  const place = keyPlaces.installation(purpose);
  const found = await queryOne(db, FIND_LOOK_UP_KEYS, [purpose]);
  // Writes only if the key is missing, because a command may use a standby.
  if (!found) {
    const key = createKey();
    const forms = [vault.wrapKey(key, place), vault.wrapKey(key, undefined)];
    await db.query(INSERT_LOOK_UP_KEYS, [purpose, ...forms, computeMasterKeyChecks(vault, 'unbound')]);
  }
  const row = found ?? (await queryOne(db, FIND_LOOK_UP_KEYS, [purpose]));
  if (!row) throw new Error(`the key for ${purpose} does not exist`);
  return openStoredKey(db, vault, row.wrapped, place);
}

/**
 * Hashes values with a key of the installation. Encrypted values can thus be found by their hash, across channels.
 * Spaces, full-width forms and invisible characters in a number from an institution do not change its hash.
 */
export function createKeyedHasher(db: Queryable, vault: Vault, purpose: KeyPurpose) {
  let key: Promise<Uint8Array> | undefined;
  return {
    async hash(text: string): Promise<Buffer> {
      key ??= readOrCreateInstallationKey(db, vault, purpose);
      // Forgets a failed read, so that the next call tries again.
      key.catch(() => {
        key = undefined;
      });
      const hashed = purpose === 'institution numbers' ? normalizeNumber(text).replaceAll(/\s/g, '') : text;
      return Buffer.from(hmacSha256(await key, hashed));
    },
  };
}

export type KeyedHasher = ReturnType<typeof createKeyedHasher>;

/** Lets the transactions of a database sign entries of the audit log with the installation's key. */
export function signAuditLog(database: Database, vault: Vault): void {
  database.signWith(createKeyedHasher(database, vault, 'audit log').hash);
}
