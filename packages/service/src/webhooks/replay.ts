import { type EventsReplayData, type EventsReplayRequest, Rejection } from '@perennial/wire';
import type { Action } from '../action.js';
import type { Queryable } from '../db/database.js';
import { parseEventIds } from './event-id.js';
import { replayEvents, replayUndelivered } from './replay-sql.js';
import { timeRange } from './time-range.js';

/** By a range of time, so many rows in one call: a channel that has more asks again. */
const MOST = 10_000;

export function replayChannelEvents(): Action<EventsReplayRequest, EventsReplayData> {
  return async ({ channel, database, once, answer }, request) => {
    const { eventIds } = request;
    const range = timeRange(request);
    return database.transaction(async (tx) => {
      const replayed =
        eventIds === undefined
          ? (await replayUndelivered(tx, channel.channelId, range, MOST)).replayed
          : await replayNamed(tx, channel.channelId, eventIds);
      return once.finish(tx, answer({ replayed }));
    });
  };
}

/** All or none. Another channel's event is as unknown as one that nobody has, and as a text that names none. */
async function replayNamed(tx: Queryable, channelId: number, eventIds: readonly string[]): Promise<number> {
  const references = parseEventIds(eventIds);
  const { found, replayed } = references ? await replayEvents(tx, channelId, references) : { found: 0, replayed: 0 };
  if (references?.length !== found) throw new Rejection('PARAM_INVALID', 'eventIds names an event that does not exist');
  return replayed;
}
