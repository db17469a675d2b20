import { type Queryable, statement } from '../../platform/db/database.js';

const PAUSE_DELIVERIES = statement({
  text: `insert into delivery_pauses (channel_id, event_type, paused_by) values ($1, $2, $3) on conflict do nothing returning 1`,
  parameters: ['bigint', 'text', 'text'],
});

/** False when it was so already. */
export async function pauseDeliveries(
  tx: Queryable,
  channelId: number,
  eventType: string,
  pausedBy: string,
): Promise<boolean> {
  const rows = await tx.query(PAUSE_DELIVERIES, [channelId, eventType, pausedBy]);
  return rows.length > 0;
}

const RESUME_DELIVERIES = statement({
  text: 'delete from delivery_pauses where channel_id = $1 and event_type = $2 returning 1',
  parameters: ['bigint', 'text'],
});

export async function resumeDeliveries(tx: Queryable, channelId: number, eventType: string): Promise<boolean> {
  const rows = await tx.query(RESUME_DELIVERIES, [channelId, eventType]);
  return rows.length > 0;
}
