import { type EventsPullData, type EventsPullRequest, formatTime, MAX_TOTAL_CYCLES } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import { listPushes, type PushKey, type PushRow, readEventClock } from '../delivery/history/pull-sql.js';
import { timeRange } from '../delivery/history/time-range.js';
import { createPulledPushes } from '../delivery/receivers/pull-pushes.js';
import { isNumberKey, type ListDefinition, readListPage } from '../platform/lists/list-page.js';
import type { ApiDeps } from './api-deps.js';

const PUSH_LIST: ListDefinition<PushRow, PushKey> = {
  endpoint: 'sandbox/events/pull',
  // Checks the cycle number, because a caller can forge a cursor, and no order has a period beyond MAX_TOTAL_CYCLES.
  isKey: (key): key is PushKey => isNumberKey(3)(key) && Number(key[2]) >= 0 && Number(key[2]) <= MAX_TOTAL_CYCLES,
  keyOf: ({ recordedMicros, eventNo, cycleNo }) => [recordedMicros, eventNo, cycleNo],
};

export type PullEventsDeps = Pick<ApiDeps, 'clock' | 'log' | 'links'>;

/** sandbox/events/pull (docs/decisions/0031). Writes nothing. */
export function createEventsPullAction({
  clock,
  log,
  links,
}: PullEventsDeps): Action<EventsPullRequest, EventsPullData> {
  return async ({ channel, database, answer }, request) => {
    const { channelId } = channel;
    const { path } = request;
    const { from } = timeRange(request);
    // Reads the clock before the events, so that an event which this read has missed was committed after `readAt`.
    const readAt = await readEventClock(database);
    const { rows, paging } = await readListPage(
      PUSH_LIST,
      { database, channelId },
      { from },
      request,
      (db, limit, { after }) => listPushes(db, channelId, from, limit, after),
    );
    const pushes = await createPulledPushes({ db: database, log, channel, links, path, now: clock.now() }, rows);
    return answer({ pushes, readAt: formatTime(readAt), nextCursor: paging.nextCursor });
  };
}
