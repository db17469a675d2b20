import type { Database } from '../../src/platform/db/database.js';
import type { FreshDatabase } from './database.js';

/** A database whose clock a test moves, for connections with `url`. Other connections use the real clock. */
export interface DatabaseClock {
  readonly url: string;
  set(time: number): Promise<void>;
}

/** Replaces now() for connections with `url`: their search path names a test schema before pg_catalog. */
export async function databaseClock({ database, url }: FreshDatabase, time: number): Promise<DatabaseClock> {
  await database.query('create schema test_clock');
  await database.query('create table test_clock.moment (at timestamptz not null)');
  await database.query('insert into test_clock.moment values ($1)', [new Date(time).toISOString()]);
  await database.query(
    `create function test_clock.now() returns timestamptz language sql stable as 'select at from test_clock.moment'`,
  );
  const clocked = new URL(url);
  clocked.searchParams.set('options', '-c search_path=public,test_clock,pg_catalog');
  return { url: clocked.href, set: (moment) => setTo(database, moment) };
}

async function setTo(database: Database, time: number): Promise<void> {
  await database.query('update test_clock.moment set at = $1', [new Date(time).toISOString()]);
}
