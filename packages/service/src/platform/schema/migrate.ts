import { setTimeout as delay } from 'node:timers/promises';
import { type Database, HeldUp, NO_PRIVILEGE_STATE, openDatabase, type Queryable, sqlState } from '../db/database.js';
import { buildIndexAtOnce, buildIndexConcurrently, parseConcurrentIndex } from './build-index.js';
import { BASELINE, type Migration } from './migration-file.js';
import { MigrationError, readSchema, type SchemaState } from './schema-state.js';

/** The key of an advisory lock: an arbitrary number, the same on every node. */
const MIGRATION_LOCK = 7_366_373_661;
const LOOK_AGAIN_MS = 100;

/**
 * Time limit in ms for a migration's locks. Short, because all other statements on the table queue behind a change that
 * waits for its lock. The migration retries later.
 */
const LOCK_MS = 2_000;
const PAUSE_MS = 1_000;
const MAX_TRIES = 60;

const NOT_THE_OWNER =
  'the role of DATABASE_URL may not change the schema: run perennial migrate with the role that owns the tables';

export interface MigrateOptions {
  /** True: also applies contract migrations, which break older nodes. Default: only on an empty database. */
  readonly contract?: boolean;
  readonly folder?: URL;
  readonly log?: (line: string) => void;
}

export interface MigrationResult {
  readonly version: number;
  /** File names. */
  readonly applied: readonly string[];
}

/**
 * Migrates the schema to this build, while nodes use it. Only one process migrates at a time; a second waits and finds
 * the work done. Each migration runs in a transaction; further statements may run after the transaction. After a
 * failure, the next run continues.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<MigrationResult> {
  const { contract = false, folder, log } = options;
  // A pool of one connection, whose session holds the migration lock until the pool is closed.
  const database = openDatabase({ url, pool: 1, name: 'perennial migrate', statementMs: 0 });
  try {
    await waitForLock(database);
    await createMigrationTable(database).catch((error: unknown) => {
      throw sqlState(error) === NO_PRIVILEGE_STATE ? new MigrationError(NOT_THE_OWNER, { cause: error }) : error;
    });
    await adoptBaseline(database, await readSchema(database, folder), log);
    const { isEmpty, missing, missingContracts, applied } = await readSchema(database, folder);
    const open = [...missing, ...(contract || isEmpty ? missingContracts : [])];
    const due = open.sort((a, b) => a.version - b.version);
    for (const migration of due) {
      await applyMigration(database, migration, { isBegun: applied.has(migration.version), isAlone: isEmpty });
      log?.(`applied ${migration.name}`);
    }
    return {
      version: Math.max(0, ...applied.keys(), ...due.map(({ version }) => version)),
      applied: due.map(({ name }) => name),
    };
  } finally {
    await database.close();
  }
}

/**
 * Polls for the lock instead of waiting in a statement. A waiting statement keeps a snapshot open, and CREATE INDEX
 * CONCURRENTLY would wait until that snapshot is closed.
 */
async function waitForLock(database: Database): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (row?.taken) return;
    await delay(LOOK_AGAIN_MS);
  }
}

async function createMigrationTable(database: Database): Promise<void> {
  await database.query(`create table if not exists schema_migrations (
    version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now(),
    is_contract boolean not null default false, is_finished boolean not null default true)`);
}

/** The migrations before 1.0.0: 1 to 34 without 12 and 15. */
const FORMER = Array.from({ length: 34 }, (_, index) => index + 1).filter(
  (version) => version !== 12 && version !== 15,
);

/**
 * Records the baseline without running it in a database that the migrations before 1.0.0 have created, because its
 * schema is the same. Throws if some of them are missing.
 */
async function adoptBaseline(
  database: Database,
  { isEmpty, missing, applied }: SchemaState,
  log: MigrateOptions['log'],
): Promise<void> {
  const baseline = missing.find(({ version }) => version === BASELINE);
  if (baseline === undefined || isEmpty) return;
  const lacking = FORMER.filter((version) => !applied.get(version)?.isFinished);
  if (lacking.length > 0) {
    throw new MigrationError(
      `the schema is from before 1.0.0 and lacks its migrations ${lacking.join(', ')}: install the last version before 1.0.0, run perennial migrate --contract there, then run this again`,
    );
  }
  await recordMigration(database, baseline);
  log?.(`recorded ${baseline.name}, because the database already has this schema`);
}

async function recordMigration(db: Queryable, migration: Migration): Promise<void> {
  const { version, name, sha256, isContract, afterwards } = migration;
  await db.query(
    'insert into schema_migrations (version, name, sha256, is_contract, is_finished) values ($1, $2, $3, $4, $5)',
    [version, name, sha256, isContract, afterwards.length === 0],
  );
}

interface ApplyConditions {
  /** True if the migration's transaction was committed by an earlier run. */
  readonly isBegun: boolean;
  /** True if the database is not used yet. */
  readonly isAlone: boolean;
}

async function applyMigration(
  database: Database,
  migration: Migration,
  { isBegun, isAlone }: ApplyConditions,
): Promise<void> {
  const { version, name, sql, afterwards } = migration;
  if (!isBegun) {
    await retryWhileHeldUp({ name, isAfterwards: false }, () =>
      database.transaction(async (tx) => {
        await tx.query(`set local lock_timeout = ${LOCK_MS}`);
        await recordMigration(tx, migration);
        await tx.query(sql);
      }),
    );
  }
  if (afterwards.length === 0) return;
  await retryWhileHeldUp({ name, isAfterwards: true }, async () => {
    for (const statement of afterwards) await runOutsideTransaction(database, statement, isAlone);
  });
  await database.query('update schema_migrations set is_finished = true where version = $1', [version]);
}

async function runOutsideTransaction(database: Database, statement: string, isAlone: boolean): Promise<void> {
  const index = parseConcurrentIndex(statement);
  const mayWait = index !== undefined || /^drop index concurrently/i.test(statement);
  // A concurrent index build may wait without a limit: it waits for older transactions, but nothing queues behind it.
  await database.query(`set lock_timeout = ${mayWait ? 0 : LOCK_MS}`);
  const build = isAlone ? buildIndexAtOnce : buildIndexConcurrently;
  await (index ? build(database, index) : database.query(statement));
}

const UNIQUE_VIOLATION = '23505';

/**
 * Returns true if a retry may succeed: after a HeldUp error such as a lock timeout, or if a concurrently inserted row
 * violates a unique index. The retry runs the migration's earlier statements again, and they repair such a row.
 */
const isTemporary = (error: unknown, isAfterwards: boolean) =>
  error instanceof HeldUp || (isAfterwards && sqlState(error) === UNIQUE_VIOLATION);

async function retryWhileHeldUp(
  { name, isAfterwards }: { readonly name: string; readonly isAfterwards: boolean },
  work: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporary(error, isAfterwards)) throw error;
      if (tries === MAX_TRIES) {
        throw new MigrationError(
          `${name} is blocked by locks of other sessions (${sqlState(error)}): run it again later`,
        );
      }
      await delay(PAUSE_MS);
    }
  }
}
