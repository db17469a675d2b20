import type { Queryable } from '../../src/platform/db/database.js';
import { computeMasterKeyChecks } from '../../src/platform/secrets/stored-keys.js';
import type { Vault } from '../../src/platform/secrets/vault.js';

/** Claims an empty database as a node of an earlier version does: its keys are not bound to their rows. */
export async function claimUnbound(database: Queryable, vault: Vault): Promise<void> {
  await database.query(`insert into installation (environment, master_key_check) values ('sandbox', $1)`, [
    computeMasterKeyChecks(vault, 'unbound')[0],
  ]);
}
