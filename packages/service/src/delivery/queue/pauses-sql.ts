import { declareHas } from '../../platform/db/database.js';

/** Returns false if the channel's events of this type are paused already. */
export const pauseDeliveries = declareHas({
  text: `insert into delivery_pauses (channel_id, event_type, paused_by) values ($1, $2, $3) on conflict do nothing returning 1`,
  parameters: ['bigint', 'text', 'text'],
});

export const resumeDeliveries = declareHas({
  text: 'delete from delivery_pauses where channel_id = $1 and event_type = $2 returning 1',
  parameters: ['bigint', 'text'],
});
