import { DEFAULT_CURRENCY } from '@perennial/wire/currency';
import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../db/database.js';
import { PlainError } from '../plain-error.js';
import type { KeyService } from '../secrets/key-service.js';
import { bindsKeys, computeMasterKeyChecks } from '../secrets/stored-keys.js';
import { createKey, openVault, type Vault } from '../secrets/vault.js';
import type { Environment } from '../settings.js';
import { findMasterKeyIds } from './wrapped-keys-sql.js';

export class InstallationError extends PlainError {}

const CLAIM_INSTALLATION = statement({
  text: `insert into installation (environment, master_key_check, wrapped_master_key) values ($1, $2, $3)
     on conflict (only_row) do update set wrapped_master_key = coalesce(installation.wrapped_master_key, $3)`,
  parameters: ['text', 'text', 'text'],
});

/** Where the master keys come from. */
export interface MasterKeySource {
  /** The master keys of the settings. */
  readonly local: readonly Uint8Array[];
  /** The key service. It wraps one more master key, which the database stores. */
  readonly service?: KeyService | undefined;
  /** True if the current master key is the key of the key service. Otherwise it is the first key of `local`. */
  readonly isServiceCurrent?: boolean;
}

function toVault({ local, isServiceCurrent = false }: MasterKeySource, external: Uint8Array | undefined): Vault {
  const known = external ? [external] : [];
  const [first, ...others] = isServiceCurrent
    ? [...known, ...local]
    : [...local.slice(0, 1), ...known, ...local.slice(1)];
  if (first) return openVault([first, ...others]);
  throw new InstallationError(
    'this database was created with a MASTER_KEY: set it as MASTER_KEY_PREVIOUS, beside KEY_SERVICE',
  );
}

/**
 * Binds a database to one environment and its master keys, at the first start. A node with different settings must not
 * start: it would answer channels that it cannot serve, or sell sandbox products for money.
 */
export async function claimInstallation(
  database: Queryable,
  environment: Environment,
  keys: MasterKeySource,
): Promise<Vault> {
  const found = await findInstallation(database);
  const created = keys.service && found?.wrappedMasterKey == null ? createKey() : undefined;
  if (!found || created) {
    const wrapped = created && keys.service ? await keys.service.wrap(created) : null;
    const [check = null] = computeMasterKeyChecks(toVault(keys, created), 'bound');
    await database.query(CLAIM_INSTALLATION, [environment, check, wrapped]);
  }
  const installation = await findInstallation(database);
  if (!installation) throw new InstallationError('the installation row is missing');
  return checkInstallation(installation, environment, keys);
}

/**
 * Opens the vault. Throws if the database belongs to a different environment, or if this node lacks the master key of
 * the database.
 */
export async function checkInstallation(
  installation: Installation,
  environment: Environment,
  keys: MasterKeySource,
): Promise<Vault> {
  if (installation.environment !== environment) {
    throw new InstallationError(
      `this database belongs to the ${installation.environment} environment, but SVC_ENVIRONMENT is ${environment}`,
    );
  }
  const { wrappedMasterKey } = installation;
  const external = wrappedMasterKey === null ? undefined : await keys.service?.unwrap(wrappedMasterKey);
  const vault = toVault(keys, external);
  const checks = [...computeMasterKeyChecks(vault, 'bound'), ...computeMasterKeyChecks(vault, 'unbound')];
  if (!checks.includes(installation.masterKeyCheck)) {
    throw new InstallationError(
      'MASTER_KEY is not the key of this database: set the key that it was created with or last rewrapped under',
    );
  }
  return vault;
}

const CLAIM_CURRENCY = statement({
  text: 'update installation set currency = $1 where currency is null',
  parameters: ['text'],
});

/**
 * Returns the installation's currency. The first call sets it, to the given currency or CNY. Later calls throw if a
 * different currency is given, because every stored amount would change its meaning.
 */
export async function claimCurrency(database: Queryable, asked: string | undefined): Promise<string> {
  const found = await findInstallation(database);
  if (found?.currency !== null) return checkCurrency(found, asked);
  await database.query(CLAIM_CURRENCY, [asked ?? DEFAULT_CURRENCY]);
  return checkCurrency(await findInstallation(database), asked);
}

/**
 * Returns the installation's currency, or the one that a new installation would get. Throws if `asked` is a different
 * currency.
 */
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
 * Binds the database to the current master key. Must be called only after every key is wrapped under this master key:
 * nodes that have only the previous master key are refused afterwards.
 */
export async function changeMasterKeyCheck(tx: Queryable, vault: Vault): Promise<boolean> {
  const changed = await tx.query(CHANGE_MASTER_KEY_CHECK, [computeMasterKeyChecks(vault, 'bound')[0] ?? null]);
  return changed.length > 0;
}

/**
 * Checks at the start whether this node has all master keys under which keys are wrapped; otherwise requests would fail
 * later. Throws if it can open no key. Returns a warning if it cannot open some keys, or if the keys are not bound to
 * their rows.
 */
export async function checkWrappedKeys(database: Queryable, vault: Vault): Promise<string | undefined> {
  const ids = await findMasterKeyIds(database);
  const unknown = ids.filter((id) => !vault.keyIds.includes(id));
  if (unknown.length === 0) {
    return (await bindsKeys(database, vault)) ? undefined : UNBOUND_KEYS;
  }
  const named = `under ${unknown.join(', ')}, which neither MASTER_KEY nor MASTER_KEY_PREVIOUS is`;
  if (unknown.length === ids.length) throw new InstallationError(`every key in this database is ${named}`);
  return `some keys in this database are ${named}: requests that need them will fail (see master-key status)`;
}

const UNBOUND_KEYS =
  'the keys in this database are not bound to their rows: run master-key rewrap when no older version runs';

export type Installation = RowOf<typeof FIND_INSTALLATION>;

const HAS_INSTALLATION_TABLE = statement({
  text: `select to_regclass('installation') is not null as exists`,
  parameters: [],
  columns: columns({ exists: 'boolean' }),
});

/** May run before the migration, so it returns null for a column that does not exist yet. */
const FIND_INSTALLATION = statement({
  text: `select environment, master_key_check as "masterKeyCheck", to_jsonb(i) ->> 'currency' as currency,
       to_jsonb(i) ->> 'wrapped_master_key' as "wrappedMasterKey" from installation i`,
  parameters: [],
  columns: columns({
    environment: column<Environment>('text'),
    masterKeyCheck: 'text',
    /** The currency of every amount. Null until a version that knows currencies was started. */
    currency: 'text?',
    /** Null without a key service. */
    wrappedMasterKey: 'text?',
  }),
});

/** Returns undefined if the database belongs to no installation yet. */
export async function findInstallation(db: Queryable): Promise<Installation | undefined> {
  const [table] = await db.query(HAS_INSTALLATION_TABLE);
  if (!table?.exists) return undefined;
  return queryOne(db, FIND_INSTALLATION);
}
