import type { Clock } from '../../src/clock.js';
import { type Database, openDatabase } from '../../src/db/database.js';
import { migrate } from '../../src/db/migrate.js';
import { freshDatabase } from '../support/database.js';

/**
 * The time of a history. Service, institutions and database all go by it, so that the engine's own statements, which ask
 * the database what is due, run through a year in a second.
 */
export interface HistoryTime {
  readonly clock: Clock;
  readonly database: Database;
  moveTo(now: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A database whose now() is the history's. A name is looked for in pg_catalog first unless the search path says otherwise;
 * this one says so before the migrations run, and every statement and every default finds the function below.
 */
export async function historyTime(start: number): Promise<HistoryTime> {
  const fresh = await freshDatabase({ migrated: false });
  const name = new URL(fresh.url).pathname.slice(1);
  let time = start;
  const iso = () => new Date(time).toISOString();
  await fresh.database.query('create table history_clock (at timestamptz not null)');
  await fresh.database.query('insert into history_clock values ($1)', [iso()]);
  await fresh.database.query(
    `create function public.now() returns timestamptz language sql stable as 'select at from public.history_clock'`,
  );
  await fresh.database.query(`alter database ${name} set search_path = public, pg_catalog`);
  // Nobody pulls the plug on this one: that is another test's business.
  await fresh.database.query(`alter database ${name} set synchronous_commit = off`);
  const database = openDatabase({ url: fresh.url, pool: 8, name: 'history' });
  await migrate(database);
  return {
    clock: { now: () => time },
    database,
    async moveTo(now) {
      if (now === time) return;
      time = now;
      await database.query('update history_clock set at = $1', [iso()]);
    },
    async close() {
      await database.close();
      await fresh.close();
    },
  };
}
