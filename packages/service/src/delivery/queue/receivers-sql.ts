import type { Queryable } from '../../platform/db/database.js';

export interface Callbacks {
  /** By event type; `*` is for those without one of their own. */
  readonly urls: Readonly<Record<string, string>>;
  /** Event types, or `*`. */
  readonly paused: readonly string[];
}

export async function findCallbacks(db: Queryable, channelId: number): Promise<Callbacks> {
  const [row] = await db.query<Callbacks>(
    `select coalesce((select json_object_agg(event_type, url) from callback_urls where channel_id = $1), '{}') as urls,
       array(select event_type from delivery_pauses where channel_id = $1) as paused`,
    [channelId],
  );
  return row ?? { urls: {}, paused: [] };
}

/** In one statement for many channels, in the order asked. */
export async function findVersions(
  db: Queryable,
  channelIds: readonly number[],
): Promise<readonly (number | undefined)[]> {
  const rows = await db.query<{ channelId: number; version: number }>(
    {
      name: 'find-channel-versions',
      text: 'select channel_id as "channelId", version from channels where channel_id = any($1::bigint[])',
    },
    [channelIds],
  );
  const versions = new Map(rows.map(({ channelId, version }) => [channelId, version]));
  return channelIds.map((channelId) => versions.get(channelId));
}
