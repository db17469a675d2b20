import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import {
  type Database,
  type DatabaseOptions,
  LONG_STATEMENT_MS,
  openDatabase,
  type Queryable,
} from '../../src/platform/db/database.js';
import { databaseUrl, TEMPLATE } from './server.js';

export interface FreshDatabase {
  readonly url: string;
  readonly database: Database;
  close(): Promise<void>;
}

interface FreshOptions extends Partial<DatabaseOptions> {
  readonly migrated?: boolean;
}

/** Creates an empty database for the test, migrated by default, with a long statement timeout for busy machines. */
export async function freshDatabase({ migrated = true, ...options }: FreshOptions = {}): Promise<FreshDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Uses a single connection, because the advisory lock belongs to it.
  const admin = openDatabase({
    url: serverUrl,
    pool: 1,
    name: 'test',
    statementMs: 0,
    settings: { lock_timeout: '0' },
  });
  // Waits for its turn, because PostgreSQL copies a template for only one session at a time, and test files run in
  // parallel.
  await admin.query('select pg_advisory_lock(1)');
  // Copies the template's files, not its rows. That halves the cost of creating the database, and reduces the cost of
  // dropping it to a sixth.
  await admin.query(`create database ${name} strategy file_copy${migrated ? ` template ${TEMPLATE}` : ''}`);
  await admin.query('select pg_advisory_unlock(1)');
  const url = databaseUrl(serverUrl, name);
  const database = openDatabase({ pool: 16, name: 'test', statementMs: LONG_STATEMENT_MS, ...options, url });
  return {
    url,
    database,
    async close() {
      await database.close();
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.close();
    },
  };
}

/** Returns how many statements with this text wait for a lock in this database. */
export async function lockWaits(database: Queryable, text = ''): Promise<number> {
  const waiting = await database.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
    [text],
  );
  return waiting.length;
}
