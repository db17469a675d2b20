import { setTimeout as delay } from 'node:timers/promises';
import { type EventsReplayData, type EventsReplayRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { parseEventIds } from '../delivery/event-id.js';
import { timeRange } from '../delivery/history/time-range.js';
import { replayEvents, replayUndelivered, tryLockReplays } from '../delivery/queue/replay-sql.js';
import type { Queryable } from '../platform/db/database.js';
import { createChannelQueue, TooManyAtOnce } from '../platform/db/sharing/channel-queue.js';

/**
 * The maximum number of rows that one request with a time range replays. A row is an event, or a range of voided
 * periods. A channel with more rows sends another request.
 */
const MAX_REPLAYED_BY_RANGE = 10_000;

/**
 * Time for which a replay waits for the channel's other replays on all nodes. Equal to the time for which a duplicate
 * request waits for the first request.
 */
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 100;

/** events/replay. Replays of a channel run one after another. A waiting replay holds no connection. */
export function createEventsReplayAction(): Action<EventsReplayRequest, EventsReplayData> {
  const onThisNode = createChannelQueue({ perChannel: 1, waitMs: MAX_WAIT_MS });
  return async ({ channel, caller, database, once, answer }, request) => {
    const { channelId } = channel;
    const { eventIds } = request;
    const range = timeRange(request);
    const replay = () =>
      database.transaction(async (tx) => {
        if (!(await tryLockReplays(tx, channelId))) return undefined;
        const replayed =
          eventIds === undefined
            ? (await replayUndelivered(tx, channelId, range, MAX_REPLAYED_BY_RANGE)).replayed
            : await replayNamedEvents(tx, channelId, eventIds);
        return once.finish(tx, answer({ replayed }));
      });
    const replayInTurn = async () => {
      for (let waited = 0; waited < MAX_WAIT_MS; waited += PAUSE_MS) {
        const done = await replay();
        if (done) return done;
        await delay(PAUSE_MS);
      }
      throw new TooManyAtOnce();
    };
    return onThisNode.run(channelId, replayInTurn, caller);
  };
}

/** Replays all named events or none. Events of other channels and invalid event ids count as missing. */
async function replayNamedEvents(tx: Queryable, channelId: number, eventIds: readonly string[]): Promise<number> {
  const references = parseEventIds(eventIds);
  const { found, replayed } = references ? await replayEvents(tx, channelId, references) : { found: 0, replayed: 0 };
  if (references?.length !== found) throw new Rejection('PARAM_INVALID', 'eventIds has an event that does not exist');
  return replayed;
}
