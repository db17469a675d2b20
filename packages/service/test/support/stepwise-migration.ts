import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MigrateOptions, type MigrationResult, migrate } from '../../src/platform/schema/migrate.js';
import { type FreshDatabase, freshDatabase } from './database.js';
import { packageRoot } from './processes.js';

export interface StepwiseMigration extends FreshDatabase {
  /** Applies all before this one, given by its number. */
  migrateBefore(next: string, options?: MigrateOptions): Promise<MigrationResult>;
}

/** A database whose schema is brought up to date by and by, so that a test can put rows of the time before into it. */
export async function stepwiseMigration(): Promise<StepwiseMigration> {
  const fresh = await freshDatabase({ migrated: false });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-migrations-'));
  const all = path.join(packageRoot, 'migrations');
  const names = await readdir(all);
  return {
    ...fresh,
    async migrateBefore(next, options = {}) {
      for (const name of names) if (name < next) await cp(path.join(all, name), path.join(folder, name));
      return migrate(fresh.url, { ...options, folder: pathToFileURL(`${folder}/`) });
    },
    async close() {
      await fresh.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
