import { columns, type Database, type Transaction } from '../../platform/db/database.js';
import { declareRequire } from '../../platform/db/declared.js';
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

/** SQL: the time from which rows are kept. Partitions that end before it are dropped. */
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

const isPartitionMissing = declareRequire({
  text: `select bool_or(to_regclass(partition_name($1, first_day)) is null) as "isMissing"
     from (select date_trunc(partition_step($1), now() at time zone 'Asia/Shanghai') + n * ('1 ' || partition_step($1))::interval
         as first_day from generate_series(0, $2) n) partitions`,
  parameters: ['text', 'integer'],
  columns: columns({ isMissing: 'boolean' }),
});

const makePartitions = declareRequire({
  text: 'select make_partitions($1, $2) as count',
  parameters: ['text', 'integer'],
  columns: columns({ count: 'integer' }),
});

/** Checks for missing partitions before it locks the table, because a partition is missing only once a week or day. */
export async function makePartitionsAhead(database: Database, table: TableByTime): Promise<number> {
  const { name, ahead } = table;
  const { isMissing } = await isPartitionMissing(database, name, ahead);
  if (!isMissing) return 0;
  return (await withLockedTable(database, table, (tx) => makePartitions(tx, name, ahead)))?.count ?? 0;
}

const isPartitionOld = declareRequire({
  text: 'select old_partition($1, $2) is not null as "isOld"',
  parameters: ['text', 'integer'],
  columns: columns({ isOld: 'boolean' }),
});

const dropPartition = declareRequire({
  text: 'select drop_old_partition($1, $2) as count',
  parameters: ['text', 'integer'],
  columns: columns({ count: 'integer' }),
});

/** Drops only one old partition per run, so that a wrong clock is noticed before all partitions are gone. */
export async function dropOldPartition(database: Database, table: TableByTime, retentionDays: number): Promise<number> {
  const { name } = table;
  const { isOld } = await isPartitionOld(database, name, retentionDays);
  if (!isOld) return 0;
  return (await withLockedTable(database, table, (tx) => dropPartition(tx, name, retentionDays)))?.count ?? 0;
}
