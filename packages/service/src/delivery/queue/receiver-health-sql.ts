import { isFailingLong } from '../../alerts/resolve-sql.js';
import type { CallsSeen } from '../../gateways/calls-seen.js';
import {
  CALLS_SEEN,
  CALLS_SEEN_PARAMETERS,
  mergedCalls,
  toCallsSeenValues,
} from '../../gateways/institution-health-sql.js';
import { columns, declareList, type Queryable, statement } from '../../platform/db/database.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/** The key under which the pushes to an address of a channel are recorded. */
export const receiverKey = (channelId: number, url: string): string => `${channelId} ${url}`;

/** Updates no row of an address that accepts every push, and none of an address that was replaced. */
const STORE_PUSHES = statement({
  text: `update callback_urls h set ${mergedCalls('h', 'seen')} from ${CALLS_SEEN} seen
     where seen.key = h.channel_id || ' ' || h.url
       and (h.failing_since is not null or seen.failing_since is not null)`,
  parameters: CALLS_SEEN_PARAMETERS,
});

/** Adds the pushes of this node to the stored pushes of all nodes. */
export async function storePushesSeen(db: Queryable, seen: ReadonlyMap<string, CallsSeen>): Promise<void> {
  await db.query(STORE_PUSHES, toCallsSeenValues(seen));
}

/** Lists the channels with such an address, and the address that has failed longest. */
export const listFailingReceivers = declareList({
  text: `select distinct on (c.app_id) c.app_id as "appId", h.url, ${shanghaiText('h.failing_since')} as since, h.failures
     from callback_urls h join channels c using (channel_id) where ${isFailingLong('h')}
     order by c.app_id, h.failing_since, h.url`,
  parameters: [],
  columns: columns({ appId: 'text', url: 'text', since: 'text', failures: 'integer' }),
});
