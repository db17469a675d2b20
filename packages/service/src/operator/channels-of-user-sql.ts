/**
 * SQL: selects the channels in which a user has rows of `table`, with an index on `userKey` and `channel_id`. Looks up
 * one channel after another instead of reading all rows, because some channels use one user id for all orders. The
 * comment on `lead` in order-list-sql.ts explains the array.
 */
export function channelsOfUserSql(table: string, userKey: string, user: string): string {
  const next = (
    where: string,
  ) => `(select t.channel_id from ${table} t where ${userKey} = any(array[key_of(${user}::text)]) ${where}
      order by ${userKey}, t.channel_id limit 1)`;
  return `(with recursive found(channel_id) as (
      ${next('')} union all
      select ${next('and t.channel_id > f.channel_id')} from found f where f.channel_id is not null)
    select f.channel_id from found f where f.channel_id is not null)`;
}
