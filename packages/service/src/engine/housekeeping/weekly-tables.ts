import type { Database, Transaction } from '../../platform/db/database.js';
import { runIfTableIsFree } from './bounded-steps.js';

/** A growing table in partitions of a week, by one of its times. */
export interface WeeklyTable {
  readonly name: 'events' | 'delivery_attempts';
  readonly timeColumn: string;
}

export const EVENTS_TABLE: WeeklyTable = { name: 'events', timeColumn: 'recorded_at' };
export const DELIVERY_ATTEMPTS_TABLE: WeeklyTable = { name: 'delivery_attempts', timeColumn: 'at' };

/** Weeks that are there before they begin: so long may every node be away without a row landing elsewhere. */
const WEEKS_AHEAD = 4;

/** Of the Monday that a week begins with, as a timestamp of Asia/Shanghai. */
export const weekNameSql = ({ name }: WeeklyTable, monday: string): string =>
  `'${name}_' || to_char(${monday}, 'YYYYMMDD')`;

/** What was written before this moment is in weeks that are kept no longer, or would be. */
export const keptFromSql = (retentionDays: string): string =>
  `date_trunc('week', now() - ${retentionDays}::integer * interval '24 hours', 'Asia/Shanghai')`;

/**
 * With the table to itself. Of nodes that do the same at once, the second finds it done. A reader chooses its partitions
 * after it has a lock on the whole, so one that comes meanwhile sees all of the change or nothing.
 */
export const withLockedTable = <T>(
  database: Database,
  { name }: WeeklyTable,
  work: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> =>
  runIfTableIsFree(database, async (tx) => {
    await tx.query(`lock table only ${name} in access exclusive mode`);
    return work(tx);
  });

/** Asked before anything is locked: all but once a week nothing is missing. */
export async function makeWeeksAhead(database: Database, table: WeeklyTable): Promise<number> {
  const [ahead] = await database.query<{ missing: boolean }>(
    `select bool_or(to_regclass(${weekNameSql(table, 'monday')}) is null) as missing
     from (select date_trunc('week', now() at time zone 'Asia/Shanghai') + n * interval '7 days' as monday
       from generate_series(0, $1::integer) n) weeks`,
    [WEEKS_AHEAD],
  );
  if (!ahead?.missing) return 0;
  const made = await withLockedTable(database, table, (tx) =>
    tx.query<{ made: number }>('select make_weeks($1, $2::integer) as made', [table.name, WEEKS_AHEAD]),
  );
  return made?.[0]?.made ?? 0;
}

/** The oldest week that ended longer ago than its rows are kept. One in a run: a clock gone wrong is noticed before all are gone. */
export async function dropOldWeek(database: Database, table: WeeklyTable, retentionDays: number): Promise<number> {
  const [week] = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table.name}'::regclass and c.relname ~ '^${table.name}_[0-9]{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'Asia/Shanghai' < ${keptFromSql('$1')}
     order by c.relname limit 1`,
    [retentionDays],
  );
  if (!week) return 0;
  const dropped = await withLockedTable(database, table, async (tx) => {
    const [there] = await tx.query('select 1 where to_regclass($1) is not null', [week.name]);
    if (!there) return 0;
    await tx.query(`drop table ${week.name}`);
    return 1;
  });
  return dropped ?? 0;
}
