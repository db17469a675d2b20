import { findChannel } from '../catalog/channels/channels-sql.js';
import type { Queryable } from '../platform/db/database.js';
import { createNotFound } from './rules.js';

export async function requireChannelId(db: Queryable, appId: string): Promise<number> {
  const channel = await findChannel(db, appId);
  if (!channel) throw createNotFound('channel', appId);
  return channel.channelId;
}
