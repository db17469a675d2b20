import type { Clock } from '../../src/platform/clock.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { migrate } from '../../src/platform/schema/migrate.js';
import { freshDatabase } from '../support/database.js';
import { databaseClock } from '../support/database-clock.js';

/**
 * The simulated time of a history, which the service, the institutions and the database share. The engine's statements
 * use the database's clock to decide what is due, so moving this time makes periods due without waiting.
 */
export interface HistoryTime {
  readonly clock: Clock;
  readonly database: Database;
  moveTo(now: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the simulated time of a history and a database whose clock shows it. The migrations also run under this
 * clock, so that column defaults use it.
 */
export async function historyTime(start: number): Promise<HistoryTime> {
  const fresh = await freshDatabase({ migrated: false });
  let time = start;
  const databaseTime = await databaseClock(fresh, start);
  // Durability is not needed: other tests cover crashes of the server.
  const settings = { synchronous_commit: 'off' };
  const database = openDatabase({ url: databaseTime.url, pool: 8, name: 'history', settings });
  await migrate(databaseTime.url);
  return {
    clock: { now: () => time },
    database,
    async moveTo(now) {
      if (now === time) return;
      time = now;
      await databaseTime.set(now);
    },
    async close() {
      await database.close();
      await fresh.close();
    },
  };
}
