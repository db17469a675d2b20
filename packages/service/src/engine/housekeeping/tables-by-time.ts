import type { Database, Transaction } from '../../platform/db/database.js';
import { runIfTableIsFree } from './bounded-steps.js';

/** A growing table, partitioned by week or day of one of its time columns. */
export interface TableByTime {
  readonly name: 'events' | 'delivery_attempts' | 'request_log';
  readonly timeColumn: string;
  readonly step: 'week' | 'day';
  /**
   * The number of partitions created in advance. If no node runs until they are used up, rows go to the default
   * partition.
   */
  readonly ahead: number;
}

export const EVENTS_TABLE: TableByTime = { name: 'events', timeColumn: 'recorded_at', step: 'week', ahead: 4 };
export const DELIVERY_ATTEMPTS_TABLE: TableByTime = {
  name: 'delivery_attempts',
  timeColumn: 'at',
  step: 'week',
  ahead: 4,
};
export const REQUEST_LOG_TABLE: TableByTime = { name: 'request_log', timeColumn: 'at', step: 'day', ahead: 3 };

/** SQL: the length of one partition, a week or a day. */
export const stepSql = ({ step }: TableByTime): string => (step === 'week' ? `interval '7 days'` : `interval '1 day'`);

/** SQL: the name of a partition. `begin` is its first day, as a timestamp in Asia/Shanghai. */
export const partitionNameSql = ({ name }: TableByTime, begin: string): string =>
  `'${name}_' || to_char(${begin}, 'YYYYMMDD')`;

/** SQL: the time from which rows are kept. Partitions of earlier weeks or days are dropped. */
export const keptFromSql = (retentionDays: string, step: TableByTime['step'] = 'week'): string =>
  `date_trunc('${step}', now() - ${retentionDays}::integer * interval '24 hours', 'Asia/Shanghai')`;

/**
 * Runs `work` with an exclusive lock on the table. If two nodes do the same work, the second finds it done. Readers
 * choose their partitions after they have locked the table, so they see either the whole change or none of it.
 */
export const withLockedTable = <T>(
  database: Database,
  { name }: TableByTime,
  work: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> =>
  runIfTableIsFree(database, async (tx) => {
    await tx.query(`lock table only ${name} in access exclusive mode`);
    return work(tx);
  });

/** Checks for missing partitions before it locks the table, because a partition is missing only once a week or day. */
export async function makePartitionsAhead(database: Database, table: TableByTime): Promise<number> {
  const { name, step, ahead } = table;
  const [found] = await database.query<{ missing: boolean }>(
    `select bool_or(to_regclass(${partitionNameSql(table, 'first_day')}) is null) as missing
     from (select date_trunc('${step}', now() at time zone 'Asia/Shanghai') + n * ${stepSql(table)} as first_day
       from generate_series(0, $1::integer) n) partitions`,
    [ahead],
  );
  if (!found?.missing) return 0;
  const made = await withLockedTable(database, table, (tx) =>
    tx.query<{ made: number }>(`select make_${step}s($1, $2::integer) as made`, [name, ahead]),
  );
  return made?.[0]?.made ?? 0;
}

/** Drops only one old partition per run, so that a wrong clock is noticed before all partitions are gone. */
export async function dropOldPartition(database: Database, table: TableByTime, retentionDays: number): Promise<number> {
  const [old] = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table.name}'::regclass and c.relname ~ '^${table.name}_[0-9]{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'Asia/Shanghai'
         < ${keptFromSql('$1', table.step)}
     order by c.relname limit 1`,
    [retentionDays],
  );
  if (!old) return 0;
  const dropped = await withLockedTable(database, table, async (tx) => {
    const [there] = await tx.query('select 1 where to_regclass($1) is not null', [old.name]);
    if (!there) return 0;
    await tx.query(`drop table ${old.name}`);
    return 1;
  });
  return dropped ?? 0;
}
