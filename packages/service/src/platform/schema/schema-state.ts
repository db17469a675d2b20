import type { Queryable } from '../db/database.js';
import { shanghaiText } from '../db/time-sql.js';
import { PlainError } from '../plain-error.js';
import { type Migration, readMigrations } from './migration-file.js';

/** A row of schema_migrations: a migration that was begun or finished. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly isContract: boolean;
  /** False if statements after the migration's transaction remain to be done. */
  readonly isFinished: boolean;
  readonly appliedAt: string;
}

export class MigrationError extends PlainError {}

/** Returns the applied migrations. The map is empty if there is no schema. */
export async function readAppliedMigrations(db: Queryable): Promise<Map<number, AppliedMigration>> {
  const [table] = await db.query<{ there: boolean }>(`select to_regclass('schema_migrations') is not null as there`);
  if (!table?.there) return new Map();
  const rows = await db.query<AppliedMigration>(
    `select version, name, sha256, is_contract as "isContract", is_finished as "isFinished",
       ${shanghaiText('applied_at')} as "appliedAt"
     from schema_migrations order by version`,
  );
  return new Map(rows.map((row) => [row.version, row]));
}

export type SchemaState = Awaited<ReturnType<typeof readSchema>>;

/** Compares the schema with this build. Throws if the schema is too new, or was created from different files. */
export async function readSchema(db: Queryable, folder?: URL) {
  const migrations = await readMigrations(folder);
  const applied = await readAppliedMigrations(db);
  refuseForeignSchema(migrations, applied);
  const open = migrations.filter(({ version }) => applied.get(version)?.isFinished !== true);
  return {
    isEmpty: applied.size === 0,
    /** Migrations without which this build cannot work. */
    missing: open.filter(({ isContract }) => !isContract),
    /** Migrations that can wait until no older node runs. */
    missingContracts: open.filter(({ isContract }) => isContract),
    migrations,
    applied,
  };
}

/**
 * Throws if a migration was edited, or if a contract migration of a later build was applied. Allows other newer
 * schemas.
 */
function refuseForeignSchema(migrations: readonly Migration[], applied: ReadonlyMap<number, AppliedMigration>): void {
  const last = migrations.at(-1)?.version ?? 0;
  const contract = [...applied.values()].find(({ version, isContract }) => version > last && isContract);
  if (contract) {
    throw new MigrationError(
      `the database is at version ${contract.version}, but this build only knows ${last}: start a newer build`,
    );
  }
  for (const { version, name, sha256 } of migrations) {
    const known = applied.get(version);
    if (known !== undefined && known.sha256 !== sha256) {
      throw new MigrationError(
        `migration ${name} differs from the one that was applied: restore the file, migrations are never edited`,
      );
    }
  }
}
