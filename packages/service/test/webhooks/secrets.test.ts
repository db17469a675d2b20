import { setTimeout as delay } from 'node:timers/promises';
import { decryptField } from '@perennial/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pauseEvents, replayGivenUpEvents, resumeEvents } from '../../src/operator/events/events.js';
import { setCallback, setEncryption, setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { demoOfEachTest, ofEachTest } from '../orders/stage-of-file.js';
import { collectRequest, mobileOf, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { type ReceivedPush, startReceiver, type TestReceiver } from './receiver.js';
import {
  localOperator,
  registerReceiver,
  type SendingNode,
  sendingNodeOf,
  statusIn,
  withLongDeadline,
} from './sending.js';

const appId = 'test_demo';
const { service, channel } = demoOfEachTest();
const node = sendingNodeOf(ofEachTest, service, withLongDeadline);
const receiver = ofEachTest(() => registerReceiver(service, channel));
let lease: ReturnType<SendingNode['keepLease']>;
const more: TestReceiver[] = [];
beforeEach(() => {
  // Renews the lease, so that the node keeps its shards, however slow the machine is.
  lease = node.keepLease();
});
afterEach(async () => {
  await lease.end();
  for (const one of more.splice(0)) await one.close();
});

const create = async (request: object = collectRequest(channel)): Promise<string> =>
  (await channel.call('orders/create', request)).data.orderNo;
const payments = () => receiver.pushes.filter(({ eventType }) => eventType === 'payment.status.changed');
const isFirst = ({ eventType }: ReceivedPush) => eventType === 'payment.status.changed';
const query = <Row>(sql: string) => service.fresh.database.query<Row>(sql);
const ids = ({ pushes }: TestReceiver) => pushes.map(({ eventId }) => eventId);
/** The pushes that are not retries. On a slow machine pushes that were cut off may be retried during a test. */
const firstPushes = ({ pushes }: TestReceiver) => pushes.filter(({ retryNo }) => retryNo === 0);

/** Makes eight pushes hang until the test cuts them. The other events of twenty orders wait in memory. */
async function manyWaiting(): Promise<void> {
  receiver.answer('hang');
  for (let index = 0; index < 20; index += 1) await create();
  // Reads repeatedly, as the engine does: on a slow machine the lease may end before a read.
  await until('eight pushes', async () => {
    await node.balance();
    await node.read();
    return receiver.pushes.length === 8;
  });
}

/**
 * Waits, and then ends the hanging pushes. A node caches a channel for 200 ms, so it notices the change of the channel
 * during the wait.
 */
async function cutOff(): Promise<void> {
  await delay(250);
  receiver.server.closeAllConnections();
}

/** Runs turns until the condition is true, because a node notices the end of a pause late. */
const turnsUntil = (condition: () => boolean | Promise<boolean>) =>
  until('all that was to come', async () => {
    await node.turn();
    return condition();
  });

async function elsewhere(secret = channel.credentials.callbackSecret): Promise<TestReceiver> {
  const other = await startReceiver({ secrets: { [appId]: secret } });
  more.push(other);
  return other;
}

describe('secrets', () => {
  it('after a reset, events in memory are signed with the new secret', async () => {
    await manyWaiting();
    const { callbackSecret = '' } = await resetCredentials(service.operator, { appId, names: ['callbackSecret'] });
    receiver.know(appId, callbackSecret);
    receiver.answer('accept');
    await cutOff();
    await turnsUntil(() => receiver.pushes.length + receiver.forged.length >= 40);
    expect(receiver.forged).toEqual([]);
    expect(new Set(ids(receiver)).size).toBe(40);
  });

  it('mobileEncrypted: only for a shared agreement, under the current aesKey', async () => {
    const user = unique('user');
    const mobile = (push: ReceivedPush | undefined, aesKey: string) =>
      decryptField(push?.data.mobileEncrypted, Buffer.from(aesKey, 'base64'));
    await create(sharedRequest(channel, { channelUserId: user }));
    await create();
    await node.turn();
    const [shared, collected] = payments();
    expect(shared?.data.agreementShareFlag).toBe(true);
    expect(mobile(shared, channel.credentials.aesKey)).toBe(mobileOf(user));
    expect(collected?.data).toMatchObject({ agreementShareFlag: false, mobileEncrypted: null });

    // The push of the order's first event hangs while the key changes. The order's next event must be composed again
    // with the new key.
    receiver.answer((push) => (isFirst(push) ? 'hang' : 'accept'));
    const orderNo = await create(sharedRequest(channel, { channelUserId: user, productCode: 'TEST_SPU_DAILY_7' }));
    await channel.call('orders/unsubscribe', { orderNo });
    await node.balance();
    await node.read();
    await receiver.until(() => payments().length === 3);
    const { aesKey = '' } = await resetCredentials(service.operator, { appId, names: ['aesKey'] });
    receiver.answer('accept');
    await cutOff();
    await turnsUntil(() => receiver.pushes.filter((push) => statusIn(push) === 'CANCELED').length === 6);
    for (const push of receiver.pushes.filter((one) => statusIn(one) === 'CANCELED')) {
      expect(mobile(push, aesKey)).toBe(mobileOf(user));
    }
  });

  it('mobileEncrypted: in the version set for the channel, from the next push on', async () => {
    const user = unique('user');
    const request = () => sharedRequest(channel, { channelUserId: user });
    await create(request());
    await node.turn();
    await setEncryption(service.operator, { appId, answers: 'v2' });
    await create(request());
    await turnsUntil(() => payments().length === 2);
    const sent = payments().map(({ data }) => data.mobileEncrypted);
    expect(sent.map((value) => value.split(':')[0])).toEqual(['svc_aes_v1', 'svc_aes_v2']);
    const aesKey = Buffer.from(channel.credentials.aesKey, 'base64');
    expect(sent.map((value) => decryptField(value, aesKey))).toEqual([mobileOf(user), mobileOf(user)]);
  });

  it('any other change to the channel sends nothing twice', async () => {
    await manyWaiting();
    await setLimits(service.operator, { appId, ratePerSecond: 99_000 });
    receiver.answer('accept');
    await cutOff();
    await turnsUntil(() => receiver.pushes.length >= 40);
    expect(new Set(ids(receiver)).size).toBe(firstPushes(receiver).length);
  });
});

describe('addresses', () => {
  it('a new address while events wait: they are sent to the new one, and none to both', async () => {
    await manyWaiting();
    const other = await elsewhere();
    await setCallback(localOperator(service), { appId, url: other.url });
    await cutOff();
    await turnsUntil(() => other.pushes.length >= 32);
    expect(receiver.pushes).toHaveLength(8);
    expect(new Set([...ids(receiver), ...ids(other)]).size).toBe(40);
    expect(firstPushes(other)).toHaveLength(32);
  });

  it('paused while events wait: nothing more is begun, and all are sent in order after the pause', async () => {
    await manyWaiting();
    await pauseEvents(service.operator, { appId });
    await cutOff();
    await node.turn();
    expect(receiver.pushes).toHaveLength(8);
    receiver.answer('accept');
    await node.turn();
    expect(receiver.pushes).toHaveLength(8);
    await resumeEvents(service.operator, { appId });
    await turnsUntil(() => receiver.pushes.length >= 40);
    expect(new Set(ids(receiver)).size).toBe(40);
    for (const { data } of payments().slice(8)) {
      const ofOrder = firstPushes(receiver).filter((push) => push.data.orderNo === data.orderNo);
      expect(ofOrder.map(statusIn)).toEqual(['BILLED', 'ACTIVE']);
    }
  });

  it('one event type paused: the other continues', async () => {
    await pauseEvents(service.operator, { appId, eventType: 'payment.status.changed' });
    await create();
    await node.turn();
    expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
    // After a long pause, the waiting events are far behind the node's read position.
    await query(`update due_events set next_at = next_at - interval '1 hour'`);
    await resumeEvents(service.operator, { appId, eventType: 'payment.status.changed' });
    await turnsUntil(() => receiver.pushes.length === 2);
    expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE', 'BILLED']);
  });

  it('no address: events are set aside, and a replay sends them once there is one', async () => {
    await setCallback(localOperator(service), { appId });
    await create();
    expect(await query('select from due_events')).toEqual([]);
    expect(await query('select reason from undelivered_events')).toEqual([
      { reason: 'NO_CALLBACK' },
      { reason: 'NO_CALLBACK' },
    ]);
    await setCallback(localOperator(service), { appId, url: receiver.url });
    await node.turn();
    expect(receiver.pushes).toEqual([]);
    await replayGivenUpEvents(service.operator, { appId });
    await turnsUntil(() => receiver.pushes.length === 2);
    expect(receiver.pushes.map((push) => [statusIn(push), push.retryNo])).toEqual([
      ['BILLED', 0],
      ['ACTIVE', 0],
    ]);
  });

  it('an address that was set just before an event: the event is sent, whatever a node has cached', async () => {
    await setCallback(localOperator(service), { appId });
    await create();
    await node.turn();
    await setCallback(localOperator(service), { appId, url: receiver.url });
    const orderNo = await create();
    await turnsUntil(async () => (await query('select * from due_events')).length === 0);
    expect(receiver.pushes.map(({ data }) => data.orderNo)).toEqual([orderNo, orderNo]);
  });

  it('an address removed while events wait: events that are not in flight are set aside', async () => {
    await manyWaiting();
    await setCallback(localOperator(service), { appId });
    // The node reads the waiting events again, also while the eight pushes are in flight.
    await node.balance();
    await node.read();
    await cutOff();
    await until('the rest put aside', async () => {
      await node.balance();
      await node.read();
      return (await query('select * from undelivered_events')).length === 32;
    });
    await node.untilQuiet();
    expect(receiver.pushes).toHaveLength(8);
    // The eight pushes in flight were not accepted, so they wait for their retry.
    expect(await query('select * from due_events')).toHaveLength(8);
  });
});
