import type { Database, Queryable, Transaction } from '../../platform/db/database.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';
import { keptFromSql, partitionNameSql, stepSql, type TableByTime, withLockedTable } from './tables-by-time.js';

/**
 * If the default partition has more rows than this, it becomes a regular partition where possible, and its rows are not
 * moved. All writes to the table would wait during the move.
 */
const MAX_MOVED_ROWS = 10_000;

/**
 * A week or day with rows in the default partition, because its own partition was created too late. Bounds are SQL
 * text.
 */
interface StraySpan {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly strays: number;
  readonly ahead: boolean;
}

/**
 * Empties the default partition, because a new partition cannot be created while the default partition contains rows
 * that belong to the new partition. If there are few rows, moves them to new partitions. If there are many, and no
 * partition lies between them, the default partition itself becomes the partition of all their weeks or days, and a new
 * default partition is created. In both cases all changes are in one transaction, so that no row is lost or seen twice.
 */
export async function gatherStrays(database: Database, table: TableByTime): Promise<number> {
  const [found] = await database.query<{ strays: boolean }>(
    `select exists (select from ${table.name}_default) as strays`,
  );
  if (!found?.strays) return 0;
  const gathered = await withLockedTable(database, table, async (tx) => {
    const spans = await findStraySpans(tx, table);
    const total = spans.reduce((sum, { strays }) => sum + strays, 0);
    if (total > MAX_MOVED_ROWS && (await areConsecutive(tx, table, spans))) await keepStraysTogether(tx, table, spans);
    else for (const span of spans) await moveStraysIntoSpan(tx, table, span);
    return total;
  });
  return gathered ?? 0;
}

/** Deletes rows of the default partition that are past their retention. */
export const deleteOldStrays = (
  database: Database,
  { name, timeColumn, step }: TableByTime,
  retentionDays: number,
): Promise<number> =>
  runInSteps(async () => {
    const rows = await database.query(
      `delete from ${name}_default where ctid = any(array(
         select ctid from ${name}_default where ${timeColumn} < ${keptFromSql('$1', step)} limit $2 for update skip locked)) returning 1`,
      [retentionDays, ROWS_PER_STEP],
    );
    return rows.length;
  });

/**
 * Returns the weeks or days of the stray rows, ordered by time. Allows a scan without an index, because it reads all
 * rows.
 */
async function findStraySpans(tx: Queryable, table: TableByTime): Promise<StraySpan[]> {
  await tx.query('set local enable_seqscan = on');
  return tx.query<StraySpan>(
    `select ${partitionNameSql(table, 'first_day')} as name, (first_day at time zone 'Asia/Shanghai')::text as "from",
       ((first_day + ${stepSql(table)}) at time zone 'Asia/Shanghai')::text as "to", strays,
       first_day at time zone 'Asia/Shanghai' > now() as ahead
     from (select date_trunc('${table.step}', ${table.timeColumn} at time zone 'Asia/Shanghai') as first_day, count(*) as strays
       from ${table.name}_default group by 1) spans order by first_day`,
  );
}

/** Moves the rows of one span. Has no timeout, because a canceled move would take as long the next time. */
async function moveStraysIntoSpan(tx: Transaction, table: TableByTime, { name, from, to }: StraySpan): Promise<void> {
  await tx.setStatementLimit(0);
  await tx.query(`create table ${name} (like ${table.name} including all)`);
  await tx.query(
    `with moved as (delete from ${table.name}_default where ${table.timeColumn} >= $1 and ${table.timeColumn} < $2 returning *)
     insert into ${name} select * from moved`,
    [from, to],
  );
  await tx.query(`alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${to}')`);
}

/** Returns true if no span is in the future and no partition lies between the spans. */
async function areConsecutive(tx: Queryable, { name }: TableByTime, spans: readonly StraySpan[]): Promise<boolean> {
  const [between] = await tx.query(
    `select from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${name}'::regclass and c.relname between $1 and $2 limit 1`,
    [spans[0]?.name, spans.at(-1)?.name],
  );
  return between === undefined && !spans.some(({ ahead }) => ahead);
}

/**
 * Makes the default partition the partition of all spans. Names it after the last span, so that it is dropped as late
 * as the partition of that span would be.
 */
async function keepStraysTogether(tx: Queryable, { name }: TableByTime, spans: readonly StraySpan[]): Promise<void> {
  const [first, last] = [spans[0], spans.at(-1)];
  await tx.query(`alter table ${name} detach partition ${name}_default`);
  await tx.query(`alter table ${name}_default rename to ${last?.name}`);
  await tx.query(`create table ${name}_default partition of ${name} default`);
  await tx.query(
    `alter table ${name} attach partition ${last?.name} for values from ('${first?.from}') to ('${last?.to}')`,
  );
}
