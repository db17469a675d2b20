import { access, constants, mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, holdsDatabase, openEmbedded } from '@perennial/embedded-postgres';
import pg from 'pg';
import {
  type Database,
  type DatabaseEvents,
  HeldUp,
  LONG_STATEMENT_MS,
  openDatabase,
  sqlState,
  Unavailable,
} from '../db/database.js';
import { moveLaggingSequences } from '../db/sequences.js';
import { UnfitConnection } from '../db/session.js';
import { PlainError } from '../plain-error.js';
import { migrate } from '../schema/migrate.js';
import { MigrationError, readSchema } from '../schema/schema-state.js';
import { createKeyService, KeyServiceError } from '../secrets/key-service.js';
import { readOrCreateInstallationKey, signAuditLog } from '../secrets/keyed-hasher.js';
import { describeMasterKeyPlace, readExistingMasterKeys, readOrCreateMasterKeys } from '../secrets/master-key.js';
import { createKey, openVault, type Vault } from '../secrets/vault.js';
import { SettingsError } from '../settings/values.js';
import { NO_DATABASE_URL, type Settings } from '../settings.js';
import { checkCell } from './cell-sql.js';
import { claimDatabase, UnconfirmedCopy } from './database-identity.js';
import {
  checkCurrency,
  checkInstallation,
  checkWrappedKeys,
  claimCurrency,
  claimInstallation,
  findInstallation,
  type MasterKeySource,
} from './installation.js';

export interface OpenOptions extends DatabaseEvents {
  /** One service and any number of tools may use the folder of an embedded database at the same time. */
  readonly role: 'service' | 'tool';
  /** The name in the database's list of sessions. Default: depends on the role. */
  readonly name?: string;
  /** True: throws if an embedded folder contains no database. By default, a database is created. */
  readonly mustExist?: boolean;
  readonly log: (line: string) => void;
  /** Called with the reason, repeatedly, while the start waits. `isDecision` is true if an operator must decide. */
  readonly onWaiting?: (what: string, isDecision: boolean) => void;
  /** The number of connection attempts before the start gives up. Default: unlimited. */
  readonly attempts?: number;
  readonly signal?: AbortSignal;
  /** Called if a different service has taken the embedded folder during an outage. This service should stop. */
  readonly onTakenOver?: (error: Error) => void;
}

export interface OpenedDatabase extends OpenConnection {
  readonly currency: string;
  readonly vault: Vault;
}

export interface OpenConnection {
  readonly database: Database;
  readonly keys: MasterKeySource;
  /** Includes the password. */
  readonly databaseUrl: string;
  close(): Promise<void>;
}

const MIN_SERVER_VERSION = 15;

/**
 * Opens a database and makes sure that it is usable: it is reachable and migrated, and belongs to this environment and
 * master key.
 */
export async function openDatabaseFromSettings(settings: Settings, options: OpenOptions): Promise<OpenedDatabase> {
  const opened = await openConnection(settings, options);
  return closeUnlessReady(opened, () =>
    retryWhileUnavailable(options, () => prepareDatabase(opened, settings, options)),
  );
}

/** Opens a database of this installation with any schema, for the command that migrates it or shows its state. */
export async function openAnySchema(settings: Settings, options: OpenOptions): Promise<OpenConnection> {
  const opened = await openConnection(settings, options);
  return closeUnlessReady(opened, async () => {
    await checkBeforeChange(opened, settings);
    return {};
  });
}

async function openConnection(settings: Settings, options: OpenOptions): Promise<OpenConnection> {
  if (options.mustExist) await refuseEmptyFolder(settings);
  if (settings.masterKeys === undefined || settings.databaseUrl === undefined) await createDataFolder(settings.dataDir);
  const keys = toKeySource(settings, await readOrCreateMasterKeys(settings));
  return { ...(await connectToDatabase(settings, options)), keys };
}

function toKeySource({ keyService }: Settings, local: readonly Uint8Array[]): MasterKeySource {
  return keyService
    ? { local, service: createKeyService(keyService), isServiceCurrent: keyService.isCurrent }
    : { local };
}

/**
 * Opens a database unchanged, for commands that only read it. Creates and migrates nothing. The database may be empty.
 */
export async function openExistingDatabase(settings: Settings, options: OpenOptions): Promise<OpenedDatabase> {
  if (options.mustExist) await refuseEmptyFolder(settings);
  const keys = await readExistingMasterKeys(settings);
  if (!keys) {
    throw new SettingsError(
      `there is no master key in ${describeMasterKeyPlace(settings)}: put it there, or set MASTER_KEY`,
    );
  }
  const opened = { ...(await connectToDatabase(settings, options)), keys: toKeySource(settings, keys) };
  return closeUnlessReady(opened, async () => {
    const { database, databaseUrl } = opened;
    const { currency, vault } = await checkBeforeChange(opened, settings);
    if (vault) await prepareSchema(database, databaseUrl, { ...settings, migrate: 'never' }, options);
    // An empty database contains nothing that a key must open, so a new key can be used.
    return { currency, vault: vault ?? openVault([...keys, createKey()]) };
  });
}

/** Returns the database with the result of `prepare`, or closes it if `prepare` fails. */
async function closeUnlessReady<T>(opened: OpenConnection, prepare: () => Promise<T>): Promise<OpenConnection & T> {
  try {
    return { ...opened, ...(await prepare()) };
  } catch (error) {
    await opened.close();
    const lasting = permanentReason(error);
    throw lasting === undefined ? error : new SettingsError(lasting, { cause: error });
  }
}

async function refuseEmptyFolder({ environment, dataDir, databaseUrl }: Settings): Promise<void> {
  if (databaseUrl !== undefined || (await holdsDatabase(dataDir))) return;
  if (environment === 'production') throw new SettingsError(NO_DATABASE_URL);
  throw new SettingsError(
    `there is no database in ${dataDir}: start the service to create one, or choose another DATA_DIR`,
  );
}

/**
 * Throws if the database belongs to a different installation. Runs before any change. The vault is undefined if the
 * database belongs to no installation yet.
 */
async function checkBeforeChange({ database, keys }: OpenConnection, settings: Settings) {
  const installation = await findInstallation(database);
  const vault = installation && (await checkInstallation(installation, settings.environment, keys));
  return { vault, currency: checkCurrency(installation, settings.currency) };
}

type Prepared = Pick<OpenedDatabase, 'currency' | 'vault'>;

/** Prepares a database for use. May be called again after a failure, because each step detects that it is done. */
async function prepareDatabase(opened: OpenConnection, settings: Settings, options: OpenOptions): Promise<Prepared> {
  const { database, databaseUrl, keys } = opened;
  await checkBeforeChange(opened, settings);
  await prepareSchema(database, databaseUrl, settings, options);
  if (settings.cell && !(await findInstallation(database))) {
    throw new SettingsError(
      `CELL is ${settings.cell}, but the database of DATABASE_URL is no cell yet: run perennial cell init first`,
    );
  }
  const vault = await claimInstallation(database, settings.environment, keys);
  signAuditLog(database, vault);
  const currency = await claimCurrency(database, settings.currency);
  await checkCell(database, settings.cell ?? (options.role === 'service' ? 0 : undefined));
  // A command repairs nothing here, so that on a copy of the database it only reports.
  if (options.role !== 'service') return { currency, vault };
  // A read-only node may use a copy of the database, so it does not claim the database.
  const warnings = [
    settings.readsOnly ? undefined : await claimDatabase(database),
    await checkWrappedKeys(database, vault),
  ];
  // Creates and reads the key now, because the transaction that first needs it would already hold a connection.
  await readOrCreateInstallationKey(database, vault, 'audit log');
  await database.prepareSigning?.();
  for (const warning of warnings) if (warning !== undefined) options.log(`Warning: ${warning}`);
  for (const sequence of await moveLaggingSequences(database))
    options.log(`sequence ${sequence} was behind its numbers`);
  return { currency, vault };
}

const LOOK_AT_SCHEMA_MS = 2_000;

/**
 * Makes sure that this build can use the schema. If migrations are missing and may not run here, a service waits for
 * them and a command throws. Contract migrations, which break older nodes, run here only on the embedded database,
 * because it has one service at a time.
 */
async function prepareSchema(
  database: Database,
  url: string,
  { environment, migrate: mode, databaseUrl }: Settings,
  { role, log, onWaiting, signal }: OpenOptions,
): Promise<void> {
  const isService = role === 'service';
  if (mode === 'auto' && (isService || environment === 'sandbox')) {
    const contract = isService && databaseUrl === undefined;
    const { missing, missingContracts } = await readSchema(database);
    // Skips the migration, and so its lock, if no migration is missing. That is the usual case.
    if (missing.length > 0 || (contract && missingContracts.length > 0)) await migrate(url, { contract });
  }
  for (let said = ''; ; ) {
    const { missing, missingContracts } = await readSchema(database);
    const [contract] = missingContracts;
    if (missing.length === 0) {
      if (isService && contract) log(`${contract.name} waits for: perennial migrate --contract`);
      return;
    }
    const line = `the schema lacks ${missing.map(({ name }) => name).join(', ')}: run perennial migrate`;
    if (!isService) throw new MigrationError(line);
    if (line !== said) log(`${line}; waiting for that`);
    said = line;
    onWaiting?.(line, false);
    await delay(LOOK_AT_SCHEMA_MS, undefined, signal ? { signal } : {});
  }
}

const LOOK_AGAIN_MS = 1_000;

/**
 * Runs `work`. For a service, repeats it until it succeeds, but throws if waiting cannot help. For a command, throws
 * the first error.
 */
async function retryWhileUnavailable<T>(
  { role, log, onWaiting, signal }: OpenOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let said = ''; ; ) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const line = role === 'service' ? describePassing(error) : undefined;
      if (line === undefined) throw error;
      if (line !== said) log(`${line}; waiting for that`);
      said = line;
      onWaiting?.(line, error instanceof UnconfirmedCopy);
      await delay(LOOK_AGAIN_MS, undefined, signal ? { signal } : {});
    }
  }
}

/** Describes an error whose cause may pass without a change of the settings. Returns undefined for other errors. */
function describePassing(error: unknown): string | undefined {
  if (error instanceof UnconfirmedCopy || error instanceof KeyServiceError) return error.message;
  // Happens while a restore or a migration has locked the tables.
  if (error instanceof HeldUp) return `another session has locked tables of the database (${sqlState(error)})`;
  return error instanceof Unavailable && permanentReason(error) === undefined ? describeUnreachable(error) : undefined;
}

/**
 * Opens the database and waits until it is reachable. Checks the server, but neither the schema nor the installation.
 */
export async function connectToDatabase(
  settings: Settings,
  options: OpenOptions,
): Promise<Omit<OpenConnection, 'keys'>> {
  const embedded =
    settings.databaseUrl === undefined
      ? await withPlainErrors(
          openEmbedded({
            dataDir: settings.dataDir,
            role: options.role,
            log: options.log,
            ...(options.onTakenOver ? { onTakenOver: options.onTakenOver } : {}),
            description: `pid ${process.pid} port ${settings.port}`,
          }),
        )
      : undefined;
  const url = settings.databaseUrl ?? embedded?.url ?? '';
  const isService = options.role === 'service';
  const database = openDatabase({
    ...options,
    url,
    pool: isService ? settings.databasePool : 2,
    name: options.name ?? `perennial ${options.role}`,
    statementMs: isService ? undefined : LONG_STATEMENT_MS,
  });
  const close = async () => {
    await database.close();
    if (embedded !== undefined) await withPlainErrors(embedded.release());
  };
  try {
    await waitUntilReachable(database, settings, options);
    return { database, databaseUrl: url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function withPlainErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof EmbeddedPostgresError ? new PlainError(error.message, { cause: error }) : error;
  }
}

async function createDataFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SettingsError(`DATA_DIR ${dataDir} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

async function waitUntilReachable(
  database: Database,
  { environment }: Settings,
  { role, log, onWaiting, attempts, signal }: OpenOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      // Only a service must be able to write. A command may use a standby.
      const { version, encoding, synchronousCommit } = await database.inspect({ mustWrite: role === 'service' });
      if (version < MIN_SERVER_VERSION) {
        throw new SettingsError(`DATABASE_URL is PostgreSQL ${version}; ${MIN_SERVER_VERSION} or newer is needed`);
      }
      if (encoding !== 'UTF8') {
        throw new SettingsError(`DATABASE_URL: the database has the encoding ${encoding}; UTF8 is needed`);
      }
      // The service sets its own value of synchronous_commit. Other programs with the same role, such as psql, do
      // not set it and may lose data.
      if (synchronousCommit === 'off' && role === 'service' && environment === 'production') {
        throw new SettingsError(
          'DATABASE_URL: synchronous_commit is off for the server, the database or the role, so a crash could lose answered requests: set it to on, remote_write or remote_apply',
        );
      }
      return;
    } catch (error) {
      const lasting = permanentReason(error);
      if (lasting !== undefined) throw new SettingsError(lasting, { cause: error });
      if (!(error instanceof Unavailable)) throw error;
      const line = describeUnreachable(error);
      if (attempts !== undefined && attempt >= attempts) throw new SettingsError(line);
      const seconds = Math.min(10, attempt);
      log(`${line}; retrying in ${seconds} s`);
      onWaiting?.(line, false);
      await delay(seconds * 1000, undefined, signal ? { signal } : {});
    }
  }
}

/** Describes why the database is unreachable, with the message of the server or system, which contains no secret. */
function describeUnreachable(error: Unavailable): string {
  const { cause } = error;
  const why = cause instanceof pg.DatabaseError ? cause.message : error.message.replace(/^database unavailable: /, '');
  return `the database of DATABASE_URL cannot be reached (${why})`;
}

const CERTIFICATE_CODES =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO)/;

/**
 * Returns the message of an error for which waiting does not help, such as a refused password, a missing database, a
 * wrong certificate or an unsuitable pooler. Returns undefined for other errors.
 */
function permanentReason(error: unknown): string | undefined {
  if (error instanceof UnfitConnection) return error.message;
  const cause = error instanceof Unavailable ? error.cause : error;
  if (!(cause instanceof Error)) return undefined;
  const { message } = cause;
  const code = 'code' in cause ? String(cause.code) : '';
  if (code === '28P01') return 'DATABASE_URL: user or password is not accepted';
  if (code === '28000') return `DATABASE_URL: user or password is not accepted (${message})`;
  if (code === '3D000') return 'DATABASE_URL: there is no database of that name';
  if (code === '42501') return `DATABASE_URL: the role may not do what the service needs: ${message}`;
  if (code === '3F000') return 'DATABASE_URL: no schema of the search_path exists';
  if (CERTIFICATE_CODES.test(code)) return `DATABASE_URL: TLS to the server failed: ${message}`;
  if (/does not support SSL/.test(message)) return 'DATABASE_URL: the server offers no TLS, and sslmode asks for it';
  return undefined;
}
