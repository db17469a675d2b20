import { randomBytes } from 'node:crypto';
import type { EventType } from '@perennial/wire';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import type { Clock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/db/database.js';
import { typeNoOf } from '../event-type-sql.js';
import { createTestMessage, signPush } from '../receivers/message.js';
import { createReceiverRegistry } from '../receivers/receivers.js';
import type { PushClient } from './push-client.js';

interface TestPushDeps {
  readonly database: Queryable;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
  readonly pushClient: PushClient;
}

/**
 * Prepares a push about no event, to test a channel's receiver, even if its events are paused. Returns undefined if the
 * channel has no callback address for the event type.
 */
export async function createTestPush(
  { database, channels, clock, pushClient }: TestPushDeps,
  channelId: number,
  eventType: EventType,
) {
  const receiver = await createReceiverRegistry(database, channels).get(channelId);
  const url = receiver.addresses[typeNoOf(eventType)]?.url;
  if (url === undefined) return undefined;
  const eventId = `test-${randomBytes(8).toString('hex')}`;
  const message = createTestMessage(eventType, eventId, clock.now());
  return {
    eventId,
    url,
    async send() {
      const beganAt = performance.now();
      const result = await pushClient.push(url, () => signPush(receiver, new URL(url).pathname, message, clock.now()));
      return { ...result, latencyMs: Math.round(performance.now() - beganAt) };
    },
  };
}
