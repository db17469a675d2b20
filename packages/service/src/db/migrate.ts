import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { PlainError } from '../plain-error.js';
import type { Database } from './database.js';

const FOLDER = new URL('../../migrations/', import.meta.url);
/** Any number will do, as long as every node takes the same. */
const MIGRATION_LOCK = 7_366_373_661;

/**
 * Brings the schema up to this build's last migration. Safe when many nodes start at once: the whole run is one
 * transaction behind one lock, so a node either finds the work done or does all of it.
 */
export async function migrate(database: Database, folder: URL = FOLDER): Promise<{ version: number; applied: number }> {
  const migrations = await readMigrations(folder);
  return database.transaction(async (tx) => {
    // The session's lock_timeout is meant for requests; a node may wait long for another's migration.
    await tx.query('set local lock_timeout = 0');
    await tx.query('set local statement_timeout = 0');
    await tx.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await tx.query(`create table if not exists schema_migrations (
      version integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`);
    const done = await tx.query<{ version: number; sha256: string }>('select version, sha256 from schema_migrations');
    const known = new Map(done.map((row) => [row.version, row.sha256]));
    refuseSurprises(migrations, known);
    const missing = migrations.filter((migration) => !known.has(migration.version));
    for (const { version, name, sha256, sql } of missing) {
      await tx.query('insert into schema_migrations (version, name, sha256) values ($1, $2, $3)', [
        version,
        name,
        sha256,
      ]);
      await tx.query(sql);
    }
    return { version: migrations.at(-1)?.version ?? 0, applied: missing.length };
  });
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly sql: string;
}

/** In the order of their numbers, which need not follow one another: 000012 belonged to nothing that was released, and stays unused. */
async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{6}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { version: Number(name.slice(0, 6)), name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

export class MigrationError extends PlainError {}

function refuseSurprises(migrations: readonly Migration[], known: ReadonlyMap<number, string>): void {
  const last = migrations.at(-1)?.version ?? 0;
  const newest = Math.max(0, ...known.keys());
  if (newest > last) {
    throw new MigrationError(`the database is at version ${newest}, this build knows ${last}: start a newer build`);
  }
  for (const { version, name, sha256 } of migrations) {
    const applied = known.get(version);
    if (applied !== undefined && applied !== sha256) {
      throw new MigrationError(`migration ${name} is not the one that was applied: migrations are never edited`);
    }
  }
}
