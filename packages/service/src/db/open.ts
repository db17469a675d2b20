import { access, constants, mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { masterKeys } from '../secrets/master-key.js';
import { openVault, type Vault } from '../secrets/vault.js';
import { type Settings, SettingsError } from '../settings.js';
import { type Database, openDatabase, Unavailable } from './database.js';
import { holdsDatabase, openEmbedded } from './embedded/index.js';
import { claimInstallation, isInstalled } from './installation.js';
import { prepareSchema } from './prepare-schema.js';

export interface OpenOptions {
  /** One service per embedded folder; any number of tools beside it or without it. */
  readonly role: 'service' | 'tool';
  /** The schema is taken as it is: for what migrates it, or tells about it. */
  readonly anySchema?: boolean;
  /** An embedded folder without a database is refused, and left as it is. Unset: one is made there. */
  readonly mustExist?: boolean;
  readonly log: (line: string) => void;
  readonly onIdleError?: (error: Error) => void;
  /** How often an unreachable DATABASE_URL is tried again before giving up; a service never gives up. */
  readonly attempts?: number;
  readonly signal?: AbortSignal;
  /** Another service took the embedded folder while this one's database was away: this one should end. */
  readonly onTakenOver?: (error: Error) => void;
}

export interface OpenedDatabase {
  readonly database: Database;
  readonly vault: Vault;
  /** With the password. */
  readonly databaseUrl: string;
  close(): Promise<void>;
}

const OLDEST_SERVER = 15;

/** The way to a database that is ready for work: reachable, migrated, of this environment and under this master key. */
export async function openFromSettings(settings: Settings, options: OpenOptions): Promise<OpenedDatabase> {
  const { dataDir, databaseUrl } = settings;
  if (options.mustExist && databaseUrl === undefined && !(await holdsDatabase(dataDir))) {
    throw new SettingsError(`there is no database in ${dataDir}: npm start makes one, or choose another DATA_DIR`);
  }
  if (settings.masterKeys === undefined || settings.databaseUrl === undefined) await makeFolder(settings.dataDir);
  const vault = openVault(await masterKeys(settings));
  const embedded =
    settings.databaseUrl === undefined
      ? await openEmbedded({
          dataDir: settings.dataDir,
          role: options.role,
          log: options.log,
          ...(options.onTakenOver ? { onTakenOver: options.onTakenOver } : {}),
          description: `pid ${process.pid} port ${settings.port}`,
        })
      : undefined;
  const url = databaseUrl ?? embedded?.url ?? '';
  const database = openDatabase({
    url,
    pool: options.role === 'service' ? settings.databasePool : 2,
    name: `perennial ${options.role}`,
    ...(options.onIdleError ? { onIdleError: options.onIdleError } : {}),
  });
  const close = async () => {
    await database.close();
    await embedded?.release();
  };
  try {
    await reach(database, options);
    // Before anything is changed: it may be the database of somebody else.
    if (await isInstalled(database)) await claimInstallation(database, settings.environment, vault);
    if (!options.anySchema) {
      await prepareSchema(database, url, settings, options);
      await claimInstallation(database, settings.environment, vault);
    }
    return { database, vault, databaseUrl: url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function makeFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SettingsError(`DATA_DIR ${dataDir} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

async function reach(database: Database, { log, attempts, signal }: OpenOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      const [row] = await database.query<{ version: number }>(
        `select current_setting('server_version_num')::integer / 10000 as version`,
      );
      if ((row?.version ?? 0) < OLDEST_SERVER) {
        throw new SettingsError(`DATABASE_URL is PostgreSQL ${row?.version}; ${OLDEST_SERVER} or newer is needed`);
      }
      return;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw readable(error);
      if (attempts !== undefined && attempt >= attempts) {
        throw new SettingsError(`the database of DATABASE_URL cannot be reached (${reason(error)})`);
      }
      const seconds = Math.min(10, attempt);
      log(`the database of DATABASE_URL cannot be reached (${reason(error)}); trying again in ${seconds} s`);
      await delay(seconds * 1000, undefined, signal ? { signal } : {});
    }
  }
}

function reason(error: Unavailable): string {
  return error.message.replace(/^database unavailable: /, '');
}

/** A refused password or a missing database will not mend itself: one line, not a stack trace. */
function readable(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === '28P01' || code === '28000') return new SettingsError('DATABASE_URL: user or password is not accepted');
  if (code === '3D000') return new SettingsError('DATABASE_URL: there is no database of that name');
  return error;
}
