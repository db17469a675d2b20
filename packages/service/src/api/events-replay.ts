import { setTimeout as delay } from 'node:timers/promises';
import { type EventsReplayData, type EventsReplayRequest, Rejection } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { parseEventIds } from '../delivery/event-id.js';
import { timeRange } from '../delivery/history/time-range.js';
import { replayEvents, replayUndelivered, tryLockReplays } from '../delivery/queue/replay-sql.js';
import type { Queryable } from '../platform/db/database.js';
import { createChannelQueue, TooManyAtOnce } from '../platform/db/sharing/channel-queue.js';

/** By a range of time, so many rows in one call: a channel that has more asks again. */
const MOST = 10_000;

/** For the channel's other replays, on other nodes too: as long as one waits for the twin of a request. */
const WAIT_MS = 10_000;
const PAUSE_MS = 100;

/** Replays of a channel come one after another, and none of them holds a connection while it waits for the others. */
export function replayChannelEvents(): Action<EventsReplayRequest, EventsReplayData> {
  const onThisNode = createChannelQueue({ perChannel: 1, waitMs: WAIT_MS });
  return async ({ channel, caller, database, once, answer }, request) => {
    const { channelId } = channel;
    const { eventIds } = request;
    const range = timeRange(request);
    const replay = () =>
      database.transaction(async (tx) => {
        if (!(await tryLockReplays(tx, channelId))) return undefined;
        const replayed =
          eventIds === undefined
            ? (await replayUndelivered(tx, channelId, range, MOST)).replayed
            : await replayNamed(tx, channelId, eventIds);
        return once.finish(tx, answer({ replayed }));
      });
    const inTurn = async () => {
      for (let waited = 0; waited < WAIT_MS; waited += PAUSE_MS) {
        const done = await replay();
        if (done) return done;
        await delay(PAUSE_MS);
      }
      throw new TooManyAtOnce();
    };
    return onThisNode.run(channelId, inTurn, caller);
  };
}

/** All or none. Another channel's event is as unknown as one that nobody has, and as a text that names none. */
async function replayNamed(tx: Queryable, channelId: number, eventIds: readonly string[]): Promise<number> {
  const references = parseEventIds(eventIds);
  const { found, replayed } = references ? await replayEvents(tx, channelId, references) : { found: 0, replayed: 0 };
  if (references?.length !== found) throw new Rejection('PARAM_INVALID', 'eventIds names an event that does not exist');
  return replayed;
}
