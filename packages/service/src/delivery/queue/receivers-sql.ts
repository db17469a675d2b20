import { column, columns, declareRequire, type Queryable, type RowOf, statement } from '../../platform/db/database.js';

export type Callbacks = RowOf<typeof findCallbacks>;

export const findCallbacks = declareRequire({
  text: `select coalesce((select json_object_agg(event_type, url) from callback_urls where channel_id = $1), '{}') as urls,
       array(select event_type from delivery_pauses where channel_id = $1) as paused`,
  parameters: ['bigint'],
  columns: columns({
    /** The URL for each event type. `*` is the default for types without a URL. */
    urls: column<Readonly<Record<string, string>>>('json'),
    /** Paused event types. `*` means all types. */
    paused: 'text[]',
  }),
});

const FIND_VERSIONS = statement({
  name: 'find-channel-versions',
  text: 'select channel_id as "channelId", version from channels where channel_id = any($1::bigint[])',
  parameters: ['bigint[]'],
  columns: columns({ channelId: 'bigint', version: 'bigint' }),
});

/** Reads the versions of many channels in one statement, in the order of `channelIds`. */
export async function findVersions(
  db: Queryable,
  channelIds: readonly number[],
): Promise<readonly (number | undefined)[]> {
  const rows = await db.query(FIND_VERSIONS, [channelIds]);
  const versions = new Map(rows.map(({ channelId, version }) => [channelId, version]));
  return channelIds.map((channelId) => versions.get(channelId));
}
