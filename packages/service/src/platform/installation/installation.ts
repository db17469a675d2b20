import { createHash } from 'node:crypto';
import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { column, columns, type Database, type Queryable, queryOne, type RowOf, statement } from '../db/database.js';
import { PlainError } from '../plain-error.js';
import type { Vault } from '../secrets/vault.js';
import type { Environment } from '../settings.js';
import { findMasterKeyIds } from './wrapped-keys-sql.js';

export class InstallationError extends PlainError {}

const CLAIM_INSTALLATION = statement({
  text: `insert into installation (environment, master_key_check) values ($1, $2) on conflict (only_row) do nothing`,
  parameters: ['text', 'text'],
});

/**
 * A database belongs to one environment and one family of master keys from its first start on. A node with another
 * would answer channels it cannot serve, or sell sandbox products for money, so it does not start.
 */
export async function claimInstallation(database: Database, environment: Environment, vault: Vault): Promise<void> {
  if (!(await findInstallation(database))) {
    await database.query(CLAIM_INSTALLATION, [environment, computeMasterKeyChecks(vault)[0] ?? null]);
  }
  const installation = await findInstallation(database);
  if (!installation) throw new InstallationError('the installation row is missing');
  checkInstallation(installation, environment, vault);
}

/** Refuses a database of another environment, or of master keys that are not known here. */
export function checkInstallation(installation: Installation, environment: Environment, vault: Vault): void {
  if (installation.environment !== environment) {
    throw new InstallationError(
      `this database belongs to the ${installation.environment} environment, SVC_ENVIRONMENT says ${environment}`,
    );
  }
  if (!computeMasterKeyChecks(vault).includes(installation.masterKeyCheck)) {
    throw new InstallationError(
      'MASTER_KEY is not the one this database was made with, or was last rewrapped under (master-key rewrap)',
    );
  }
}

const CLAIM_CURRENCY = statement({
  text: 'update installation set currency = $1 where currency is null',
  parameters: ['text'],
});

/**
 * Returns the currency of the installation. The first call fixes it: to the currency that is asked for, else CNY. Throws if another
 * currency is asked for later, because every stored amount would mean something else.
 */
export async function claimCurrency(database: Queryable, asked: string | undefined): Promise<string> {
  const found = await findInstallation(database);
  if (found?.currency !== null) return checkCurrency(found, asked);
  await database.query(CLAIM_CURRENCY, [asked ?? DEFAULT_CURRENCY]);
  return checkCurrency(await findInstallation(database), asked);
}

/** Returns the currency of the installation, or the one it would get. Throws if another currency is asked for. */
export function checkCurrency(installation: Installation | undefined, asked: string | undefined): string {
  const currency = installation?.currency ?? asked ?? DEFAULT_CURRENCY;
  if (asked === undefined || asked === currency) return currency;
  throw new InstallationError(`the amounts of this database are in ${currency}, but CURRENCY is ${asked}`);
}

const CHANGE_MASTER_KEY_CHECK = statement({
  text: 'update installation set master_key_check = $1 where master_key_check <> $1 returning only_row',
  parameters: ['text'],
});

/**
 * From now on the database belongs to the current master key. Call it only when every key is wrapped under that one: from
 * then on a node that has only the previous master key is refused.
 */
export async function changeMasterKeyCheck(tx: Queryable, vault: Vault): Promise<boolean> {
  const changed = await tx.query(CHANGE_MASTER_KEY_CHECK, [computeMasterKeyChecks(vault)[0] ?? null]);
  return changed.length > 0;
}

/**
 * Looks for keys under master keys that this node does not have, which it would notice only at a request. Throws if it could
 * open none at all. Answers a warning if it could not open some, else undefined.
 */
export async function checkWrappedKeys(database: Queryable, vault: Vault): Promise<string | undefined> {
  const ids = await findMasterKeyIds(database);
  const unknown = ids.filter((id) => !vault.keyIds.includes(id));
  if (unknown.length === 0) return undefined;
  const named = `under ${unknown.join(', ')}, which neither MASTER_KEY nor MASTER_KEY_PREVIOUS is`;
  if (unknown.length === ids.length) throw new InstallationError(`every key in this database is ${named}`);
  return `some keys in this database are ${named}: what needs them will fail (master-key status)`;
}

/** By these the database recognizes its master key: one for each key that is known. */
export function computeMasterKeyChecks(vault: Vault): string[] {
  return vault.derivePurposeKeys('installation check').map(({ key }) => createHash('sha256').update(key).digest('hex'));
}

export type Installation = RowOf<typeof FIND_INSTALLATION>;

const HAS_INSTALLATION_TABLE = statement({
  text: `select to_regclass('installation') is not null as exists`,
  parameters: [],
  columns: columns({ exists: 'boolean' }),
});

/** Read before the schema is migrated: a column that is missing yet is null. */
const FIND_INSTALLATION = statement({
  text: `select environment, master_key_check as "masterKeyCheck", to_jsonb(i) ->> 'currency' as currency from installation i`,
  parameters: [],
  columns: columns({
    environment: column<Environment>('text'),
    masterKeyCheck: 'text',
    /** Of every amount. Null until a start of a version that names currencies. */
    currency: 'text?',
  }),
});

/** Undefined for a database that no service was started on. */
export async function findInstallation(db: Queryable): Promise<Installation | undefined> {
  const [table] = await db.query(HAS_INSTALLATION_TABLE);
  if (!table?.exists) return undefined;
  return queryOne(db, FIND_INSTALLATION);
}
