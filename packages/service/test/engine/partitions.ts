import type { FreshDatabase } from '../support/database.js';

/** Returns the partitions of a table by their names, without the default partition. */
export async function partitions({ database }: Pick<FreshDatabase, 'database'>, table: string): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table}'::regclass and c.relname <> '${table}_default' order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Removes the partitions of a table, as after a month without housekeeping. */
export async function losePartitions(fresh: Pick<FreshDatabase, 'database'>, table: string): Promise<void> {
  for (const name of await partitions(fresh, table)) await fresh.database.query(`drop table ${name}`);
}
