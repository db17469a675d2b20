import type { Queryable } from '../../platform/db/database.js';

/** False when it was so already. */
export async function pauseDeliveries(
  tx: Queryable,
  channelId: number,
  eventType: string,
  pausedBy: string,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into delivery_pauses (channel_id, event_type, paused_by) values ($1, $2, $3) on conflict do nothing returning 1`,
    [channelId, eventType, pausedBy],
  );
  return rows.length > 0;
}

export async function resumeDeliveries(tx: Queryable, channelId: number, eventType: string): Promise<boolean> {
  const rows = await tx.query('delete from delivery_pauses where channel_id = $1 and event_type = $2 returning 1', [
    channelId,
    eventType,
  ]);
  return rows.length > 0;
}
