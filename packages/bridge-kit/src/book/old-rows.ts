import type { BookDatabase } from './database.js';
import { ABOUT_DEBIT } from './notices.js';

/**
 * Deletes settled numbers and accepted notices that are older than the time `before`: at most `most` rows per table.
 * Returns whether there may be more. Keeps a debit while its notice is not accepted, or one of its refunds is open or
 * recent. Keeps all refunds of a kept debit, so that the refunded sum of a debit stays complete.
 */
export async function deleteOldRows(database: BookDatabase, before: number, most: number): Promise<boolean> {
  const { schema } = database;
  const isKept = {
    debits: `started_at >= $1::bigint
      or exists (select from ${schema}.notices
        where about = '${ABOUT_DEBIT}' || old.number and ended is distinct from 'TAKEN')
      or exists (select from ${schema}.refunds
        where attempt_no = old.number and (state <> 'SETTLED' or begun_at >= $1::bigint))`,
    refunds: `exists (select from ${schema}.debits where number = old.attempt_no)`,
  };
  const values = [before, most];
  let hasMore = false;
  for (const table of ['debits', 'refunds'] as const) {
    const deleted = await database.query(
      `delete from ${schema}.${table} where number in (
         select number from ${schema}.${table} as old
         where state = 'SETTLED' and begun_at < $1::bigint and (${isKept[table]}) is not true
         order by begun_at limit $2 for update skip locked)
       returning number`,
      values,
    );
    hasMore ||= deleted.length === most;
  }
  const deleted = await database.query(
    `delete from ${schema}.notices where notice_no in (
       select notice_no from ${schema}.notices where ended = 'TAKEN' and ended_at < $1::bigint
       order by ended_at limit $2 for update skip locked)
     returning notice_no`,
    values,
  );
  return hasMore || deleted.length === most;
}
