import type { Queryable } from '../db/database.js';

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
