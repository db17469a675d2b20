import { columns, type Queryable, queryOne, statement } from '../../platform/db/database.js';
import { declareList } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

export const listChannelNames = declareList({
  text: 'select channel_id::text as "channelId", app_id as "appId", name from channels order by app_id',
  parameters: [],
  columns: columns({ channelId: 'text', appId: 'text', name: 'text' }),
});

const FIND_FIRST_MONTH = statement({
  text: `select left(${shanghaiText('min(created_at)')}, 7) as month from channels`,
  parameters: [],
  columns: columns({ month: 'text?' }),
});

/** Returns the month in which the first channel was created. */
export async function findFirstMonth(db: Queryable): Promise<string | undefined> {
  return (await queryOne(db, FIND_FIRST_MONTH))?.month ?? undefined;
}
