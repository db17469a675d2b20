import { createHash } from 'node:crypto';
import type { Queryable, Transaction } from '../db/database.js';
import { moveLaggingSequencesIn } from '../db/sequences.js';
import { PlainError } from '../plain-error.js';
import {
  BACKUP_FORMAT,
  BACKUP_FORMAT_VERSION,
  type BackupEnd,
  type BackupHead,
  removeTimeouts,
  type TableEnd,
  type TableStart,
} from './backup.js';
import { listPartitions, listTables, type Partition, quoteIdentifier, setSequence, type Table } from './tables-sql.js';

export class BackupError extends PlainError {}

const BROKEN_BACKUP = 'the backup is broken: it ends in the middle, or is not what was written';

/** The first line of a backup. */
export async function readBackupHead(lines: AsyncIterator<string>): Promise<BackupHead> {
  const { value, done } = await lines.next();
  const head = done ? undefined : (parseJson(value) as Partial<BackupHead> | undefined);
  if (head?.format !== BACKUP_FORMAT) throw new BackupError('this is not a file that perennial backup has written');
  if (head.formatVersion !== BACKUP_FORMAT_VERSION) {
    throw new BackupError(`the backup has format ${head.formatVersion}, this build knows ${BACKUP_FORMAT_VERSION}`);
  }
  return head as BackupHead;
}

/**
 * Replaces all rows of the database by those of a copy, in the transaction that is given, in the schema that the head names.
 * The counts and checksums of the copy are compared. Afterwards all of it is there, or nothing has changed.
 */
export async function loadBackup(
  tx: Transaction,
  head: BackupHead,
  lines: AsyncIterator<string>,
): Promise<{ tables: number; rows: number }> {
  await removeTimeouts(tx);
  const tables = new Map((await listTables(tx)).map((table) => [table.name, table]));
  await tx.query(`truncate ${[...tables.keys()].map(quoteIdentifier).join()}`);
  await remakePartitions(tx, head.partitions);
  let total = 0;
  const seen = new Set<string>();
  for (;;) {
    const record = (await nextRecord(lines)) as TableStart | BackupEnd;
    if ('sequences' in record) {
      if (record.tables !== seen.size || record.rows !== total || seen.size !== tables.size) {
        throw new BackupError(BROKEN_BACKUP);
      }
      // Also the end of the compressed file has to be complete.
      if (!(await lines.next()).done) throw new BackupError(BROKEN_BACKUP);
      for (const sequence of record.sequences) await setSequence(tx, sequence);
      // The sequences may have been behind in the database that was copied.
      await moveLaggingSequencesIn(
        tx,
        record.sequences.map(({ name }) => name),
      );
      return { tables: seen.size, rows: total };
    }
    const table = tables.get(record.table);
    if (!table || seen.has(table.name) || table.columns.join() !== record.columns.join()) {
      throw new BackupError(`the backup has a table ${record.table} that this build does not know like that`);
    }
    seen.add(table.name);
    total += await loadTable(tx, table, lines);
  }
}

/** Partitions of weeks are made as time goes by, so a new schema has others than the copy. */
async function remakePartitions(tx: Queryable, wanted: readonly Partition[]): Promise<void> {
  const key = ({ parent, name, bound }: Partition) => JSON.stringify([parent, name, bound]);
  const there = await listPartitions(tx);
  const wantedKeys = new Set(wanted.map(key));
  const thereKeys = new Set(there.map(key));
  for (const one of there) if (!wantedKeys.has(key(one))) await tx.query(`drop table ${quoteIdentifier(one.name)}`);
  for (const one of wanted) {
    if (thereKeys.has(key(one))) continue;
    // The bound is a text of PostgreSQL, with its keywords.
    if (!/^(DEFAULT|FOR VALUES [^;]+)$/.test(one.bound)) throw new BackupError(BROKEN_BACKUP);
    await tx.query(
      `create table ${quoteIdentifier(one.name)} partition of ${quoteIdentifier(one.parent)} ${one.bound}`,
    );
  }
}

const ROWS_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 1_000_000;

async function loadTable(tx: Queryable, { name, columns, hasTriggers }: Table, lines: AsyncIterator<string>) {
  const table = quoteIdentifier(name);
  const list = columns.map(quoteIdentifier).join();
  const insert = `insert into ${table} (${list}) overriding system value select ${list} from unnest($1::${table}[])`;
  // The rows that triggers would write are in the copy.
  if (hasTriggers) await tx.query(`alter table ${table} disable trigger user`);
  const sum = createHash('sha256');
  let rows = 0;
  let batch: string[] = [];
  let characters = 0;
  const flush = async () => {
    if (batch.length > 0) await tx.query(insert, [batch]);
    batch = [];
    characters = 0;
  };
  for (;;) {
    const { value: text, done } = await lines.next();
    if (done) throw new BackupError(BROKEN_BACKUP);
    const record = parseJson(text);
    if (typeof record !== 'string') {
      const end = record as Partial<TableEnd> | undefined;
      if (end?.end !== name || end.rows !== rows || end.sha256 !== sum.digest('hex'))
        throw new BackupError(BROKEN_BACKUP);
      break;
    }
    sum.update(`${text}\n`);
    rows += 1;
    batch.push(record);
    characters += record.length;
    if (batch.length >= ROWS_AT_ONCE || characters >= CHARACTERS_AT_ONCE) await flush();
  }
  await flush();
  if (hasTriggers) await tx.query(`alter table ${table} enable trigger user`);
  return rows;
}

async function nextRecord(lines: AsyncIterator<string>): Promise<object> {
  const { value, done } = await lines.next();
  const record = done ? undefined : parseJson(value);
  if (typeof record !== 'object' || record === null) throw new BackupError(BROKEN_BACKUP);
  return record;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
