import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/database.js';
import { migrate } from '../schema/migrate.js';
import { MigrationError, readSchema } from '../schema/schema-state.js';
import type { Settings } from '../settings.js';

export interface PrepareSchemaOptions {
  readonly role: 'service' | 'tool';
  readonly log: (line: string) => void;
  readonly onWaiting?: (what: string, isDecision: boolean) => void;
  readonly signal?: AbortSignal;
}

const LOOK_AGAIN_MS = 2_000;

/**
 * Makes sure that this build can work on the schema. A service that may not migrate waits until it was migrated; a command
 * says so and ends. Contract migrations, which break older nodes, are applied unasked only where there can be none: on the
 * embedded database, which has one service at a time.
 */
export async function prepareSchema(
  database: Database,
  url: string,
  { environment, migrate: mode, databaseUrl }: Settings,
  { role, log, onWaiting, signal }: PrepareSchemaOptions,
): Promise<void> {
  const isService = role === 'service';
  if (mode === 'auto' && (isService || environment === 'sandbox')) {
    const contract = isService && databaseUrl === undefined;
    const { missing, missingContracts } = await readSchema(database);
    // Nearly always nothing is missing: then no lock is taken.
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
    await delay(LOOK_AGAIN_MS, undefined, signal ? { signal } : {});
  }
}
