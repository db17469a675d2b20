import { columns, type Queryable, queryOne, type RowOf, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

export type ChannelName = RowOf<typeof LIST_CHANNEL_NAMES>;

const LIST_CHANNEL_NAMES = statement({
  text: 'select channel_id::text as "channelId", app_id as "appId", name from channels order by app_id',
  parameters: [],
  columns: columns({ channelId: 'text', appId: 'text', name: 'text' }),
});

export async function listChannelNames(db: Queryable): Promise<ChannelName[]> {
  return db.query(LIST_CHANNEL_NAMES);
}

const FIND_FIRST_MONTH = statement({
  text: `select left(${shanghaiText('min(created_at)')}, 7) as month from channels`,
  parameters: [],
  columns: columns({ month: 'text?' }),
});

/** The month in which the first channel was made. */
export async function findFirstMonth(db: Queryable): Promise<string | undefined> {
  return (await queryOne(db, FIND_FIRST_MONTH))?.month ?? undefined;
}
