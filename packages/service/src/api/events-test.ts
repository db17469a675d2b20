import type { EventsTestData, EventsTestRequest } from '@perennial/wire';
import type { Action } from '../catalog/action.js';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { PushClient } from '../delivery/transport/push-client.js';
import { createTestPush } from '../delivery/transport/test-push.js';
import { createChannelQueue } from '../platform/db/sharing/channel-queue.js';
import type { ApiDeps } from './api-deps.js';

export interface TestEventDeps extends Pick<ApiDeps, 'clock'> {
  readonly channels: ChannelRegistry;
  readonly pushClient: PushClient;
}

/** Time for which a test push waits for the channel's other test pushes on this node. */
const MAX_WAIT_MS = 5_000;

/** sandbox/events/test. Test pushes of a channel run one after another, so that they cannot flood a receiver. */
export function createEventsTestAction(deps: TestEventDeps): Action<EventsTestRequest, EventsTestData> {
  const onThisNode = createChannelQueue({ perChannel: 1, waitMs: MAX_WAIT_MS });
  return async ({ channel, caller, database, answer }, { eventType = 'order.status.changed' }) => {
    const { channelId } = channel;
    const push = await createTestPush({ ...deps, database }, channelId, eventType);
    if (!push) {
      const reason = `the channel has no callback address for ${eventType}`;
      return answer({ eventId: null, url: null, accepted: false, httpStatus: null, answer: reason, durationMs: 0 });
    }
    const { eventId, url } = push;
    const { outcome, httpStatus, answer: text, latencyMs } = await onThisNode.run(channelId, push.send, caller);
    return answer({ eventId, url, accepted: outcome === 'ACCEPTED', httpStatus, answer: text, durationMs: latencyMs });
  };
}
