/**
 * SQL for the channels that have rows of a user, by an index on `userKey`, `channel_id`. Needs one lookup per channel,
 * because some channels have one user for all of their orders. order-list-sql.ts explains the array.
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
