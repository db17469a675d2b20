import type { Static } from '@perennial/wire';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { parseEventId } from '../../delivery/event-id.js';
import type { EventKey } from '../../delivery/history/candidates-sql.js';
import { type ListedEvent, listEvents } from '../../delivery/history/list-sql.js';
import { findNextPush } from '../../delivery/queue/backlog-sql.js';
import type { PushClient } from '../../delivery/transport/push-client.js';
import { createTestPush } from '../../delivery/transport/test-push.js';
import { recordAudit } from '../audit/audit.js';
import { recordLimited } from '../audit/trace-read.js';
import { requireChannelId } from '../channel-id.js';
import { inTransaction, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { type PageInput, readPage } from '../paging.js';
import type { testEventRequest } from '../schemas/events.js';
import { type ListEventsInput, readEventFilter, showEvent } from './events.js';

/** Returns a page of a channel's events, newest first. */
export async function pageEvents(
  { database }: Operator,
  { appId, cursor, limit, ...asked }: Omit<ListEventsInput, 'limit'> & PageInput,
) {
  const channelId = await requireChannelId(database, appId);
  const filter = readEventFilter(asked);
  const page = await readPage<ListedEvent, EventKey>(
    `channels/${channelId}/events`,
    { cursor, limit },
    [0, 0],
    (after, rows) => listEvents(database, channelId, filter, rows, { after, offset: 0 }),
    (event) => [event.recordedMicros, event.eventNo],
  );
  return { ...page, rows: page.rows.map(({ recordedMicros: _1, eventNo: _2, ...event }) => event) };
}

/** Returns an event and the time of its next push. The time is null if no push is planned. */
export async function showEventWithNextPush(
  operator: Operator,
  { appId, eventId }: { readonly appId: string; readonly eventId: string },
) {
  const event = await showEvent(operator, { appId, eventId });
  const channelId = await requireChannelId(operator.database, appId);
  const reference = parseEventId(eventId);
  const nextPushAt = reference ? await findNextPush(operator.database, channelId, reference) : null;
  return { ...event, nextPushAt };
}

/**
 * Sends a signed test push to the callback address of the event type, even if its events are paused. The push belongs
 * to no order and is not stored as an event: it is not retried, and only the audit log has a record.
 */
export async function sendTestEvent(
  operator: OperatorWithClock,
  { channels, pushClient }: { readonly channels: ChannelRegistry; readonly pushClient: PushClient },
  { appId, eventType = 'order.status.changed' }: Static<typeof testEventRequest> & { readonly appId: string },
) {
  const { database, clock } = operator;
  const channelId = await requireChannelId(database, appId);
  const push = await createTestPush({ database, clock, channels, pushClient }, channelId, eventType);
  if (push === undefined)
    throw refusal('no-callback-address')`channel ${appId} has no callback address for ${eventType}`;
  const { eventId, url } = push;
  // Recorded before the push, so that every push has an audit entry even if this node dies.
  const detail = { eventType, eventId, url };
  await inTransaction(operator, (tx) =>
    recordLimited(tx, { actor: operator.actor, action: 'events.test', subject: appId, detail }),
  );
  const result = await push.send();
  // The checklist of a new channel reads this entry.
  if (result.outcome === 'ACCEPTED')
    await inTransaction(operator, (tx) =>
      recordAudit(tx, { actor: operator.actor, action: 'events.test-accepted', subject: appId, detail: { eventId } }),
    );
  return { ...result, url };
}
