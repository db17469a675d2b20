import { hmacSha256 } from '@perennial/wire';
import { columns, type Queryable, statement } from '../db/database.js';
import { createKey, type Vault } from './vault.js';

export type KeyPurpose = 'institution numbers' | 'bank mobiles' | 'pool codes';

const INSERT_LOOK_UP_KEYS = statement({
  text: 'insert into look_up_keys (purpose, wrapped) values ($1, $2) on conflict do nothing',
  parameters: ['text', 'text'],
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
  await db.query(INSERT_LOOK_UP_KEYS, [purpose, vault.wrapKey(createKey())]);
  const [row] = await db.query(FIND_LOOK_UP_KEYS, [purpose]);
  if (!row) throw new Error(`the key for ${purpose} does not exist`);
  return vault.unwrapKey(row.wrapped);
}

/** Hashes values with a key of the installation. Encrypted values can thus be found by their hash, across channels. */
export function createKeyedHasher(db: Queryable, vault: Vault, purpose: KeyPurpose) {
  let key: Promise<Uint8Array> | undefined;
  return {
    async hash(text: string): Promise<Buffer> {
      key ??= readOrCreateInstallationKey(db, vault, purpose);
      // Forgets a failed read, so that the next call tries again.
      key.catch(() => {
        key = undefined;
      });
      return Buffer.from(hmacSha256(await key, text));
    },
  };
}

export type KeyedHasher = ReturnType<typeof createKeyedHasher>;
