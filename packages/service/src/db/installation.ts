import { createHash } from 'node:crypto';
import { PlainError } from '../plain-error.js';
import type { Vault } from '../secrets/vault.js';
import type { Environment } from '../settings.js';
import type { Database, Queryable } from './database.js';

export class InstallationError extends PlainError {}

/** False for one without a schema. */
export async function isInstalled(database: Database): Promise<boolean> {
  const [row] = await database.query<{ there: boolean }>(`select to_regclass('installation') is not null as there`);
  return row?.there === true;
}

/**
 * A database belongs to one environment and one family of master keys from its first start on. A node with another
 * would answer channels it cannot serve, or sell sandbox products for money, so it does not start.
 */
export async function claimInstallation(database: Database, environment: Environment, vault: Vault): Promise<void> {
  const checks = masterKeyChecks(vault);
  const rows = await database.query<{ environment: Environment; master_key_check: string }>(
    `with made as (
       insert into installation (environment, master_key_check) values ($1, $2)
       on conflict (only_row) do nothing returning environment, master_key_check)
     select environment, master_key_check from made
     union all select environment, master_key_check from installation limit 1`,
    [environment, checks[0]],
  );
  // Two first starts at once: the loser's statement sees neither its own row nor the winner's.
  const installation = rows[0] ?? (await database.query<(typeof rows)[0]>('select * from installation'))[0];
  if (!installation) throw new InstallationError('the installation row is missing');
  if (installation.environment !== environment) {
    throw new InstallationError(
      `this database belongs to the ${installation.environment} environment, SVC_ENVIRONMENT says ${environment}`,
    );
  }
  if (!checks.includes(installation.master_key_check)) {
    throw new InstallationError('MASTER_KEY is not the one this database was made with');
  }
  if (installation.master_key_check !== checks[0]) {
    await database.query('update installation set master_key_check = $1', [checks[0]]);
  }
}

/** What the database remembers of its master key: one for each that is known. */
export function masterKeyChecks(vault: Vault): string[] {
  return vault.purposeKeys('installation check').map(({ key }) => createHash('sha256').update(key).digest('hex'));
}

export interface Installation {
  readonly environment: Environment;
  readonly masterKeyCheck: string;
}

/** Nothing for a database that no service was started on. */
export async function findInstallation(db: Queryable): Promise<Installation | undefined> {
  const [table] = await db.query<{ exists: boolean }>(`select to_regclass('installation') is not null as exists`);
  if (!table?.exists) return undefined;
  const [row] = await db.query<Installation>(
    'select environment, master_key_check as "masterKeyCheck" from installation',
  );
  return row;
}
