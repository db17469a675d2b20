import { createHash } from 'node:crypto';
import type { Queryable, Transaction, Transactional } from '../db/database.js';
import { shanghaiText } from '../db/time-sql.js';
import { findInstallation, findMasterKeyId, type Installation } from '../installation/installation.js';
import { listAppliedMigrations, type MigrationId } from '../schema/migrate.js';
import type { Vault } from '../secrets/vault.js';
import {
  listPartitions,
  listSequences,
  listTables,
  type Partition,
  quoteIdentifier,
  type Sequence,
  type Table,
} from './tables-sql.js';

/**
 * A copy of the database as lines of JSON: a head, then for each table its name, its rows as PostgreSQL writes them, and how
 * many there were with their checksum; at the end the sequences. The schema is not in it: it is what the migrations make
 * (docs/decisions/0024-alerts-and-copies.md).
 */
export interface BackupHead extends Installation {
  readonly format: typeof BACKUP_FORMAT;
  readonly formatVersion: typeof BACKUP_FORMAT_VERSION;
  readonly takenAt: string;
  /** The name of the master key of the database. The key itself is not in a copy. */
  readonly masterKeyId: string;
  readonly migrations: readonly MigrationId[];
  readonly partitions: readonly Partition[];
}

export interface TableStart {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface TableEnd {
  readonly end: string;
  readonly rows: number;
  readonly sha256: string;
}

export interface BackupEnd {
  readonly sequences: readonly Sequence[];
  readonly tables: number;
  readonly rows: number;
}

export const BACKUP_FORMAT = 'perennial backup';
export const BACKUP_FORMAT_VERSION = 1;

export interface BackupSummary {
  readonly masterKeyId: string;
  readonly takenAt: string;
  readonly tables: number;
  readonly rows: number;
}

const ROWS_AT_ONCE = 2000;

/**
 * Writes the database as it was at one moment, while the service goes on. Tables are locked against being dropped or
 * truncated, which housekeeping puts off; no other statement waits.
 */
export async function writeBackup(
  database: Transactional,
  vault: Vault,
  write: (text: string) => Promise<void>,
): Promise<BackupSummary> {
  const tables = await listTables(database);
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await removeTimeouts(tx);
    // Before the first read, so that no table that is read can be dropped.
    await tx.query(`lock table ${tables.map(({ name }) => quoteIdentifier(name)).join()} in access share mode`);
    // Not now(), when the transaction began: it may have waited for the lock since, and has what was written meanwhile.
    const [moment] = await tx.query<{ takenAt: string }>(`select ${shanghaiText('clock_timestamp()')} as "takenAt"`);
    const installation = await findInstallation(tx);
    if (!moment || !installation) throw new Error('a database that was opened has an installation');
    const { takenAt } = moment;
    const masterKeyId = findMasterKeyId(installation, vault);
    const head: BackupHead = {
      format: BACKUP_FORMAT,
      formatVersion: BACKUP_FORMAT_VERSION,
      takenAt,
      ...installation,
      masterKeyId,
      migrations: await listAppliedMigrations(tx),
      partitions: await listPartitions(tx),
    };
    await write(toLine(head));
    // The statements of the service are planned by index; a copy reads whole tables.
    await tx.query('set local enable_seqscan = on; set local cursor_tuple_fraction = 1');
    let rows = 0;
    for (const table of tables) rows += await writeTable(tx, table, write);
    const end: BackupEnd = { sequences: await listSequences(tx), tables: tables.length, rows };
    await write(toLine(end));
    return { masterKeyId, takenAt, tables: tables.length, rows };
  });
}

async function writeTable(
  tx: Queryable,
  { name, columns }: Table,
  write: (text: string) => Promise<void>,
): Promise<number> {
  const start: TableStart = { table: name, columns };
  await write(toLine(start));
  const sum = createHash('sha256');
  let rows = 0;
  await tx.query(`declare rows no scroll cursor for select t::text as row from ${quoteIdentifier(name)} t`);
  for (;;) {
    const batch = await tx.query<{ row: string }>(`fetch ${ROWS_AT_ONCE} from rows`);
    if (batch.length === 0) break;
    const text = batch.map(({ row }) => toLine(row)).join('');
    sum.update(text);
    rows += batch.length;
    await write(text);
  }
  await tx.query('close rows');
  const end: TableEnd = { end: name, rows, sha256: sum.digest('hex') };
  await write(toLine(end));
  return rows;
}

const toLine = (value: unknown) => `${JSON.stringify(value)}\n`;

/** The limits of this node and of the session are meant for requests. */
export async function removeTimeouts(tx: Transaction): Promise<void> {
  await tx.setStatementLimit(0);
  await tx.query('set local lock_timeout = 0');
  await tx.query('set local idle_in_transaction_session_timeout = 0');
}
