import type { Database, Transaction } from '../../platform/db/database.js';
import { runIfTableIsFree } from './bounded-steps.js';

/** A growing table with a partition for each week of one of its time columns. */
export interface WeeklyTable {
  readonly name: 'events' | 'delivery_attempts';
  readonly timeColumn: string;
}

export const EVENTS_TABLE: WeeklyTable = { name: 'events', timeColumn: 'recorded_at' };
export const DELIVERY_ATTEMPTS_TABLE: WeeklyTable = { name: 'delivery_attempts', timeColumn: 'at' };

/** Weeks that are made before they begin. If no node runs for longer than this, rows go to the default partition. */
const WEEKS_AHEAD = 4;

/** SQL of the name of a week's partition. `monday` is its first day, as a timestamp in Asia/Shanghai. */
export const weekNameSql = ({ name }: WeeklyTable, monday: string): string =>
  `'${name}_' || to_char(${monday}, 'YYYYMMDD')`;

/** SQL of the time from which weeks are kept. Earlier weeks are dropped. */
export const keptFromSql = (retentionDays: string): string =>
  `date_trunc('week', now() - ${retentionDays}::integer * interval '24 hours', 'Asia/Shanghai')`;

/**
 * Runs `work` with an exclusive lock on the table. When two nodes do the same, the second finds it done. Readers choose their
 * partitions after they have locked the table, so they see the whole change or nothing of it.
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

/** Checks before it locks anything: a partition is missing only once a week. */
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

/**
 * Drops the oldest week that is no longer kept. Only one in a run, so that a wrong clock is noticed before all weeks are
 * gone.
 */
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
