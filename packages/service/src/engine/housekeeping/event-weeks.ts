import type { Database, Queryable } from '../../db/database.js';
import { ifFree } from './steps.js';

/** Weeks that are there before they begin: so long may every node be away without an event landing elsewhere. */
const WEEKS_AHEAD = 4;

/** Of the Monday that a week begins with, as a timestamp of Asia/Shanghai. */
export const weekName = (monday: string): string => `'events_' || to_char(${monday}, 'YYYYMMDD')`;

/**
 * With the events to itself. Of nodes that do the same at once, the second finds it done. A reader chooses its partitions
 * after it has a lock on the whole, so one that comes meanwhile sees all of the change or nothing.
 */
export const withEvents = <T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T | undefined> =>
  ifFree(database, async (tx) => {
    await tx.query('lock table only events in access exclusive mode');
    return work(tx);
  });

/** Asked before anything is locked: all but once a week nothing is missing. */
export async function makeWeeksAhead(database: Database): Promise<number> {
  const [ahead] = await database.query<{ missing: boolean }>(
    `select bool_or(to_regclass(${weekName('monday')}) is null) as missing
     from (select date_trunc('week', now() at time zone 'Asia/Shanghai') + n * interval '7 days' as monday
       from generate_series(0, $1::integer) n) weeks`,
    [WEEKS_AHEAD],
  );
  if (!ahead?.missing) return 0;
  const made = await withEvents(database, (tx) =>
    tx.query<{ made: number }>('select make_event_weeks($1::integer) as made', [WEEKS_AHEAD]),
  );
  return made?.[0]?.made ?? 0;
}

/** The oldest week that ended longer ago than events are kept. One in a run: a clock gone wrong is noticed before all are gone. */
export async function dropOldWeek(database: Database, retentionDays: number): Promise<number> {
  const [week] = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'events'::regclass and c.relname ~ '^events_[0-9]{8}$'
       and (to_date(right(c.relname, 8), 'YYYYMMDD') + 7)::timestamp at time zone 'Asia/Shanghai'
         <= now() - $1::integer * interval '1 day'
     order by c.relname limit 1`,
    [retentionDays],
  );
  if (!week) return 0;
  const dropped = await withEvents(database, async (tx) => {
    const [there] = await tx.query('select 1 where to_regclass($1) is not null', [week.name]);
    if (!there) return 0;
    await tx.query(`drop table ${week.name}`);
    return 1;
  });
  return dropped ?? 0;
}
