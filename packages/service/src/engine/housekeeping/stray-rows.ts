import { columns, type Database } from '../../platform/db/database.js';
import { declareRequire } from '../../platform/db/declared.js';
import { ROWS_PER_STEP, runInSteps } from './bounded-steps.js';
import { keptFromSql, type TableByTime, withLockedTable } from './tables-by-time.js';

const moveStrays = declareRequire({
  text: 'select gather_strays($1) as count',
  parameters: ['text'],
  columns: columns({ count: 'integer' }),
});

/**
 * Moves the rows of the default partition to partitions of their weeks or days. All changes are in one transaction, so
 * that no row is lost or seen twice. Has no timeout, because a canceled move would take as long the next time. Allows a
 * scan without an index, because it reads all rows.
 */
export async function gatherStrays(database: Database, table: TableByTime): Promise<number> {
  const [found] = await database.query<{ strays: boolean }>(
    `select exists (select from ${table.name}_default) as strays`,
  );
  if (!found?.strays) return 0;
  const gathered = await withLockedTable(database, table, async (tx) => {
    await tx.setStatementLimit(0);
    await tx.query('set local enable_seqscan = on');
    return moveStrays(tx, table.name);
  });
  return gathered?.count ?? 0;
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
