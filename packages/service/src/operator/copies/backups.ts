import { createReadStream, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type BackupHead, type BackupSummary, writeBackup } from '../../platform/copies/backup.js';
import { storeBackup } from '../../platform/copies/backups-sql.js';
import { BackupError, loadBackup, readBackupHead } from '../../platform/copies/restore.js';
import { type SkippedNumbers, skipNumbers } from '../../platform/copies/tables-sql.js';
import { columns, type Database, type Queryable, statement, Unavailable } from '../../platform/db/database.js';
import { moveLaggingSequencesIn } from '../../platform/db/sequences.js';
import { computeMasterKeyChecks, findInstallation } from '../../platform/installation/installation.js';
import { migrate, SchemaTooNew } from '../../platform/schema/migrate.js';
import type { Vault } from '../../platform/secrets/vault.js';
import type { Environment } from '../../platform/settings.js';
import { recordAudit } from '../audit.js';
import { inTransaction, type Operator, OperatorError } from '../operator.js';

export interface BackupFile extends BackupSummary {
  readonly file: string;
  readonly bytes: number;
  /** Other known master keys beside that of the database: some keys may be wrapped under them. */
  readonly otherKeyIds: readonly string[];
  /** Whether the database could store that there is a backup, for its age in /metrics. A standby or a full one cannot. */
  readonly recorded: boolean;
}

/**
 * Writes a complete backup to a new file, or no file at all. Only the present user may read it. An existing file is not
 * overwritten.
 */
export async function writeBackupFile({ database, vault }: Operator, file: string): Promise<BackupFile> {
  if (await stat(file).catch(() => undefined)) throw new OperatorError(`${file} is there already: name another file`);
  const unfinished = `${file}.${process.pid}.unfinished`;
  const stopWatching = removeOnSignal(unfinished);
  try {
    const handle = await open(unfinished, 'wx', 0o600);
    try {
      const summary = await compressInto(handle, (write) => writeBackup(database, vault, write));
      await handle.sync();
      const { size } = await handle.stat();
      await rename(unfinished, file);
      const otherKeyIds = vault.keyIds.filter((id) => id !== summary.masterKeyId);
      return { ...summary, file, bytes: size, otherKeyIds, recorded: await recordIfPossible(database) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(unfinished, { force: true });
    const failed = error instanceof Error && 'syscall' in error ? error.message : undefined;
    throw failed === undefined ? error : new OperatorError(`the backup cannot be written: ${failed}`);
  } finally {
    stopWatching();
  }
}

async function recordIfPossible(database: Queryable): Promise<boolean> {
  try {
    await storeBackup(database, 'COPY');
    return true;
  } catch (error) {
    if (error instanceof Unavailable) return false;
    throw error;
  }
}

/** For a backup that was made by other means: stores that it was made now, for its age in /metrics. */
export async function recordOtherBackup({ database }: Operator): Promise<{ readonly recorded: true }> {
  await storeBackup(database, 'OTHER');
  return { recorded: true };
}

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal ends the process as usual, but the unfinished file is removed first. */
function removeOnSignal(file: string): () => void {
  const stopWatching = () => {
    for (const signal of END_SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    stopWatching();
    rmSync(file, { force: true });
    process.kill(process.pid, signal);
  };
  for (const signal of END_SIGNALS) process.on(signal, end);
  return stopWatching;
}

/** `write` waits while the buffer is full, so that a copy takes no more memory than a few batches of rows. */
async function compressInto<T>(
  handle: FileHandle,
  produce: (write: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const gzip = createGzip({ level: 3 });
  const stored = pipeline(gzip, async (chunks) => {
    for await (const chunk of chunks) await handle.appendFile(chunk);
  });
  const failed = stored.then(() => new Promise<never>(() => undefined));
  const write = async (text: string) => {
    if (gzip.write(text)) return;
    await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), failed]);
  };
  try {
    const result = await Promise.race([produce(write), failed]);
    gzip.end();
    await stored;
    return result;
  } catch (error) {
    gzip.destroy();
    await stored.catch(() => undefined);
    throw error;
  }
}

export interface RestoreInput {
  readonly file: string;
  /** All rows of the database are replaced. */
  readonly replace?: boolean;
}

/** The target of a restore, as far as it is known before the database is opened. */
export interface RestorePlace {
  readonly environment: Environment;
  /** Undefined when there is no master key: then the restored rows would be useless. */
  readonly vault: Vault | undefined;
  /** Where the master key belongs, in words for people. */
  readonly masterKeyPlace: string;
}

export interface RestoreDeps extends RestorePlace {
  readonly database: Database;
  /** The URL of that database, with the password. */
  readonly databaseUrl: string;
  readonly actor: string;
}

export interface Restored {
  readonly takenAt: string;
  readonly tables: number;
  readonly rows: number;
  readonly skipped: readonly SkippedNumbers[];
}

/** Refuses a file that could not be restored there, before a database is made for it. */
export async function checkBackup(place: RestorePlace, file: string): Promise<void> {
  await readBackupLines(file, async (lines) => refuseUnfitBackup(place, await readBackupHead(lines)));
}

/** Checks the file and the database before anything is changed, then replaces the rows of the database in one transaction. */
export async function restoreBackup(deps: RestoreDeps, { file, replace = false }: RestoreInput): Promise<Restored> {
  const { database, databaseUrl, actor } = deps;
  return readBackupLines(file, async (lines) => {
    const head = await readBackupHead(lines);
    refuseUnfitBackup(deps, head);
    if (!replace && (await findInstallation(database))) {
      throw new OperatorError(
        'there is a service’s data in this database already: choose an empty one, or say --replace and lose it',
      );
    }
    await refuseRunningNodes(database, 'stop them first');
    await migrate(databaseUrl, { only: head.migrations }).catch((error: unknown) => {
      if (!(error instanceof SchemaTooNew)) throw error;
      throw new OperatorError('the database is newer than the backup: restore into an empty one');
    });
    const restored = await database.transaction(async (tx) => {
      const loaded = await loadBackup(tx, head, lines);
      const skipped = await skipNumbers(tx);
      const detail = { takenAt: head.takenAt, rows: loaded.rows };
      await recordAudit(tx, { actor, action: 'restore', subject: 'installation', detail });
      // A node that was started meanwhile waits for the tables, which are locked until the commit, and would then begin at
      // once.
      await refuseRunningNodes(tx, 'they were started meanwhile; no row was changed');
      return { takenAt: head.takenAt, ...loaded, skipped };
    });
    await migrate(databaseUrl);
    await database.transaction((tx) => tx.query('analyze'), { statementMs: 0 });
    return restored;
  });
}

function refuseUnfitBackup({ environment, vault, masterKeyPlace }: RestorePlace, head: BackupHead): void {
  if (head.environment !== environment) {
    throw new OperatorError(
      `the backup is of the ${head.environment} environment, SVC_ENVIRONMENT says ${environment}; nothing was changed`,
    );
  }
  if (!vault) {
    throw new OperatorError(
      `the backup needs the master key ${head.masterKeyId}, which is not in it: put it into ${masterKeyPlace} first, with mode 0600, or set MASTER_KEY`,
    );
  }
  if (!computeMasterKeyChecks(vault).includes(head.masterKeyCheck)) {
    throw new OperatorError(
      `the backup needs the master key ${head.masterKeyId}; ${masterKeyPlace} holds ${vault.keyIds[0]}; nothing was changed`,
    );
  }
}

const COUNT_NODE_SESSIONS = statement({
  text: `select count(*) as sessions from pg_stat_activity
     where datname = current_database() and application_name like 'perennial service%'`,
  parameters: [],
  columns: columns<{ sessions: number }>({ sessions: 'bigint' }),
});

/**
 * Running nodes would go on with what they have in memory, and a node that waits for its schema would act on the copy before
 * a person has checked it. An embedded database is locked against other nodes anyway.
 */
async function refuseRunningNodes(db: Queryable, advice: string): Promise<void> {
  const [row] = await db.query(COUNT_NODE_SESSIONS);
  if (row && row.sessions > 0) throw new OperatorError(`nodes are running on this database: ${advice}`);
}

/** Without readline, which ends lines at other characters than a line feed too. */
async function readBackupLines<T>(file: string, work: (lines: AsyncIterator<string>) => Promise<T>): Promise<T> {
  const source = createReadStream(file);
  const unpacked = createGunzip();
  // The reader of the lines gets the error; unhandled here, it would end the process.
  pipeline(source, unpacked).catch(() => undefined);
  try {
    return await work(splitLines(unpacked));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE') {
      throw new BackupError('the backup is broken: it cannot be unpacked');
    }
    if (error instanceof Error && 'syscall' in error && code === 'ENOENT') {
      throw new OperatorError(`there is no file ${file}`);
    }
    if (code === 'EISDIR')
      throw new OperatorError(`${file} is a folder: name a file that perennial backup has written`);
    throw error;
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}

async function* splitLines(stream: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const parts = `${rest}${chunk}`.split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}

export interface NumbersSkipped {
  /** Sequences that were behind the numbers of the rows, and were moved above them first. */
  readonly behind: readonly string[];
  readonly skipped: readonly SkippedNumbers[];
}

/** For a database that was restored by other means: skips the numbers that may have been given out since, as `restore` does. */
export async function skipUsedNumbers(operator: Operator): Promise<NumbersSkipped> {
  return inTransaction(operator, async (tx) => {
    const behind = await moveLaggingSequencesIn(tx);
    const skipped = await skipNumbers(tx);
    const detail = Object.fromEntries(skipped.map(({ name, to }) => [name, to]));
    await recordAudit(tx, { actor: operator.actor, action: 'numbers.skip', subject: 'installation', detail });
    return { behind, skipped };
  });
}
