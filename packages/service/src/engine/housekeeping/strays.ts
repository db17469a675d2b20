import type { Database, Queryable, Transaction } from '../../platform/db/database.js';
import { inSteps, STEP } from './steps.js';
import { keptFrom, type WeeklyTable, weekName, withTable } from './weeks.js';

/** More than this are not moved while every request that writes to the table waits, if that can be helped. */
const MOST_MOVED = 10_000;

/** A week that has rows in the default partition, because it was not made in time. Bounds as PostgreSQL writes them. */
interface StrayWeek {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly strays: number;
  readonly ahead: boolean;
}

/**
 * A week cannot be made while rows of it are in the default partition. A few are moved into their weeks. Many stay in
 * their table, which takes the place of their weeks, and there is a new default partition. Either way it is all or
 * nothing, and each row is in one place at any moment.
 */
export async function gatherStrays(database: Database, table: WeeklyTable): Promise<number> {
  const [found] = await database.query<{ strays: boolean }>(
    `select exists (select from ${table.name}_default) as strays`,
  );
  if (!found?.strays) return 0;
  const gathered = await withTable(database, table, async (tx) => {
    const weeks = await strayWeeks(tx, table);
    const total = weeks.reduce((sum, { strays }) => sum + strays, 0);
    if (total > MOST_MOVED && (await areInARow(tx, table, weeks))) await keepTogether(tx, table, weeks);
    else for (const week of weeks) await moveIntoWeek(tx, table, week);
    return total;
  });
  return gathered ?? 0;
}

/** Those whose week would be gone by now. */
export const deleteOldStrays = (
  database: Database,
  { name, by }: WeeklyTable,
  retentionDays: number,
): Promise<number> =>
  inSteps(async () => {
    const rows = await database.query(
      `delete from ${name}_default where ctid = any(array(
         select ctid from ${name}_default where ${by} < ${keptFrom('$1')} limit $2 for update skip locked)) returning 1`,
      [retentionDays, STEP],
    );
    return rows.length;
  });

/** In the order of time. All rows are read, for which an index would be the long way round. */
async function strayWeeks(tx: Queryable, table: WeeklyTable): Promise<StrayWeek[]> {
  await tx.query('set local enable_seqscan = on');
  return tx.query<StrayWeek>(
    `select ${weekName(table, 'monday')} as name, (monday at time zone 'Asia/Shanghai')::text as "from",
       ((monday + interval '7 days') at time zone 'Asia/Shanghai')::text as "to", strays,
       monday at time zone 'Asia/Shanghai' > now() as ahead
     from (select date_trunc('week', ${table.by} at time zone 'Asia/Shanghai') as monday, count(*) as strays
       from ${table.name}_default group by 1) weeks order by monday`,
  );
}

/** However long it takes: given up half-way, it would take as long the next time. */
async function moveIntoWeek(tx: Transaction, table: WeeklyTable, { name, from, to }: StrayWeek): Promise<void> {
  await tx.setStatementLimit(0);
  await tx.query(`create table ${name} (like ${table.name} including all)`);
  await tx.query(
    `with moved as (delete from ${table.name}_default where ${table.by} >= $1 and ${table.by} < $2 returning *)
     insert into ${name} select * from moved`,
    [from, to],
  );
  await tx.query(`alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${to}')`);
}

/** Up to this week, with no week between them that is there already. */
async function areInARow(tx: Queryable, { name }: WeeklyTable, weeks: readonly StrayWeek[]): Promise<boolean> {
  const [between] = await tx.query(
    `select from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${name}'::regclass and c.relname between $1 and $2 limit 1`,
    [weeks[0]?.name, weeks.at(-1)?.name],
  );
  return between === undefined && !weeks.some(({ ahead }) => ahead);
}

/** Under the name of their last week, since they are kept for as long as it is. */
async function keepTogether(tx: Queryable, { name }: WeeklyTable, weeks: readonly StrayWeek[]): Promise<void> {
  const [first, last] = [weeks[0], weeks.at(-1)];
  await tx.query(`alter table ${name} detach partition ${name}_default`);
  await tx.query(`alter table ${name}_default rename to ${last?.name}`);
  await tx.query(`create table ${name}_default partition of ${name} default`);
  await tx.query(
    `alter table ${name} attach partition ${last?.name} for values from ('${first?.from}') to ('${last?.to}')`,
  );
}
