import { type EventsReplayData, type EventsReplayRequest, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Database, Queryable } from '../db/database.js';
import { type EventReference, parseEventId } from './event-id.js';
import { timeRange } from './list.js';
import { replayEvents, replayUndelivered } from './replay-sql.js';

/** Events in one call by a range of time: a channel that has more asks again. */
const MOST = 10_000;

export function replayChannelEvents(database: Database): Action<EventsReplayRequest, EventsReplayData> {
  return async ({ channel, once, answer }, request) =>
    database.transaction(async (tx) => {
      const replayed =
        request.eventIds === undefined
          ? await replayUndelivered(tx, channel.channelId, timeRange(request), MOST)
          : await replayNamed(tx, channel.channelId, request.eventIds);
      return once.finish(tx, answer({ replayed }));
    });
}

async function replayNamed(tx: Queryable, channelId: number, eventIds: readonly string[]): Promise<number> {
  const references = eventIds.map((eventId): EventReference => {
    const reference = parseEventId(eventId);
    if (!reference) throw new Rejection('PARAM_INVALID', `there is no event ${eventId}`);
    return reference;
  });
  const replayed = await replayEvents(tx, channelId, references);
  const asked = new Set(eventIds).size;
  if (replayed < asked)
    throw new Rejection('PARAM_INVALID', `${asked - replayed} of eventIds are not events of this channel`);
  return replayed;
}
