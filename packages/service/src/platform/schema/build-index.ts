import type { Database } from '../db/database.js';

const CONCURRENT_INDEX =
  /^create (?<unique>unique )?index concurrently (?<name>\w+)\s+on (?<table>\w+)\s+(?<rest>\S.*)$/is;

export interface IndexDefinition {
  readonly name: string;
  readonly table: string;
  readonly unique: boolean;
  /** Columns and predicate. */
  readonly rest: string;
}

export function parseConcurrentIndex(statement: string): IndexDefinition | undefined {
  const { unique, name, table, rest } = CONCURRENT_INDEX.exec(statement)?.groups ?? {};
  if (name === undefined || table === undefined || rest === undefined) return undefined;
  return { name, table, unique: unique !== undefined, rest };
}

/**
 * Builds an index while other sessions read and write. Keeps an existing index, and rebuilds a half-built one.
 * PostgreSQL cannot build an index concurrently on a partitioned table, so each partition gets its own index, which is
 * then attached. A partition that is created during the build has the index from the start.
 */
export async function buildIndexConcurrently(database: Database, index: IndexDefinition): Promise<void> {
  const { name, table } = index;
  if (!(await isPartitioned(database, table))) return buildOnTable(database, index);
  await database.query(`create ${indexKind(index)} if not exists ${name} on only ${table} ${index.rest}`);
  for (;;) {
    const partition = await findPartitionWithout(database, index);
    if (partition === undefined) return;
    const own = { ...index, table: partition, name: `${partition}_${name}` };
    await buildOnTable(database, own);
    await database.query(`alter index ${name} attach partition ${own.name}`);
  }
}

/** Builds the index with one locking statement, on a database that is not used yet. */
export async function buildIndexAtOnce(database: Database, index: IndexDefinition): Promise<void> {
  await database.query(`create ${indexKind(index)} if not exists ${index.name} on ${index.table} ${index.rest}`);
}

async function buildOnTable(database: Database, index: IndexDefinition): Promise<void> {
  const { name, table, rest } = index;
  const [there] = await database.query<{ isValid: boolean }>(
    `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass($1)`,
    [name],
  );
  if (there?.isValid) return;
  if (there) await database.query(`drop index concurrently ${name}`);
  await database.query(`create ${indexKind(index)} concurrently ${name} on ${table} ${rest}`);
}

const indexKind = ({ unique }: IndexDefinition) => (unique ? 'unique index' : 'index');

async function isPartitioned(database: Database, table: string): Promise<boolean> {
  const [row] = await database.query('select from pg_partitioned_table where partrelid = to_regclass($1)', [table]);
  return row !== undefined;
}

async function findPartitionWithout(database: Database, { name, table }: IndexDefinition): Promise<string | undefined> {
  const [row] = await database.query<{ partition: string }>(
    `select p.inhrelid::regclass::text as partition from pg_inherits p
     where p.inhparent = to_regclass($1) and not exists (
       select from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
       where i.inhparent = to_regclass($2) and x.indrelid = p.inhrelid)
     order by 1 limit 1`,
    [table, name],
  );
  return row?.partition;
}
