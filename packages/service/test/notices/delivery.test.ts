import { UpcomingPayload } from '@perennial/wire';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listBacklogs } from '../../src/delivery/queue/backlog-sql.js';
import { noticeDueOrders } from '../../src/engine/jobs/notices.js';
import { pauseEvents, resumeEvents } from '../../src/operator/events/events.js';
import { setCallback, setUpcomingNotices } from '../../src/operator/provisioning/channel-settings.js';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { ofFile } from '../orders/stage-of-file.js';
import { stage } from '../redeem/support.js';
import { until } from '../support/processes.js';
import type { TestReceiver } from '../webhooks/receiver.js';
import { createSendingNode, localOperator, registerReceiver, type SendingNode } from '../webhooks/sending.js';

/** Tests the notice that a receiver gets before a payment. By the database's clock all notices are long due. */

const appId = 'test_demo';
const TYPE = 'payment.upcoming';
const on = ofFile(stage);
const all = ofFile(() => registerReceiver(on.service, on.channel));
let sender: SendingNode;
beforeAll(async () => {
  sender = createSendingNode(on.service);
  await setUpcomingNotices(on.service.operator, { appId, days: 5 });
});
afterAll(() => sender.stop());
beforeEach(() =>
  on.service.fresh.database.query('truncate orders, events, due_events, undelivered_events, delivery_attempts'),
);

const HOST = 'http://localhost';
async function newSecret(): Promise<string> {
  const { callbackSecret } = await resetCredentials(on.service.operator, { appId, names: ['callbackSecret'] });
  if (callbackSecret === undefined) throw new Error('there is a new secret');
  return callbackSecret;
}
/** Creates an order and writes the notice about its second period. Returns the order. */
async function noticed() {
  const order = await on.order();
  expect(await noticeDueOrders(on.service.fresh.database)).toBe(1);
  return order;
}
const upcoming = ({ pushes }: TestReceiver, orderNo: string) =>
  pushes.filter(({ eventType, data }) => eventType === TYPE && data.orderNo === orderNo);
/** Runs turns until the condition is true, because the sender notices a change of the channel in a later turn. */
const turnsUntil = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, async () => {
    await sender.turn();
    return holds();
  });
const turnsUntilPushed = (receiver: TestReceiver, orderNo: string) =>
  turnsUntil('the notice', () => upcoming(receiver, orderNo).length > 0);
const list = async (filter: object) =>
  (await on.channel.call('events/list', filter, { token: await on.channel.getToken() })).data.events;

it('has its own address, is paused on its own, and waits for a replay without an address', async () => {
  const operator = localOperator(on.service);
  const own = await registerReceiver(on.service, on.channel, { eventType: TYPE, path: '/notices' });
  try {
    const first = await noticed();
    await turnsUntilPushed(own, first.orderNo);
    expect(own.pushes.map(({ eventType, path }) => [eventType, path])).toEqual([[TYPE, '/notices']]);
    expect(upcoming(all, first.orderNo)).toEqual([]);

    await pauseEvents(on.service.operator, { appId, eventType: TYPE });
    const second = await noticed();
    await turnsUntil(
      'its other events',
      () => all.pushes.filter(({ data }) => data.orderNo === second.orderNo).length === 2,
    );
    expect(own.pushes).toHaveLength(1);
    const [backlog] = await listBacklogs(on.service.operator.database);
    expect(backlog).toMatchObject({ paused: [TYPE], waiting: 1, nextPushAt: null });
    expect(await list({ eventType: TYPE, deliveryStatus: 'PENDING' })).toHaveLength(1);
    expect(await list({ eventType: 'order.status.changed', deliveryStatus: 'PENDING' })).toEqual([]);
    await resumeEvents(on.service.operator, { appId, eventType: TYPE });
    await turnsUntilPushed(own, second.orderNo);

    // After a refusal the notice is retried at the same address: its row still has the event type.
    own.answer('refuse');
    const third = await noticed();
    await turnsUntilPushed(own, third.orderNo);
    expect(await on.service.fresh.database.query('select is_notice, step from due_events')).toEqual([
      { is_notice: true, step: 1 },
    ]);
    expect(upcoming(own, third.orderNo)).toHaveLength(1);
  } finally {
    await setCallback(operator, { appId, eventType: TYPE });
    await own.close();
  }
});

it('has a link from the time of sending, which opens the page, and counts like any other event', async () => {
  const { orderNo, channelUserId, externalOrderNo } = await noticed();
  // The event was written before the new secret was set, but its link is signed with the new secret.
  all.know(appId, await newSecret());
  await turnsUntilPushed(all, orderNo);
  const [push, ...more] = upcoming(all, orderNo);
  expect(more).toEqual([]);
  expect(push?.data).toEqual({
    ...{ orderNo, externalOrderNo, channelUserId, paymentOrderNo: `${orderNo}0002`, cycleNo: 2 },
    ...{ expectPayTime: '2026-02-28 12:00:00', amountCent: 1990, settlementMode: 'CHANNEL_COLLECT' },
    ...{ agreementShareFlag: false, redeemUrl: expect.stringContaining(`${HOST}/redeem`) },
  });
  expect(Object.keys(push?.data)).toEqual(Object.keys(UpcomingPayload.properties));
  const page = await on.get(push?.data.redeemUrl.slice(HOST.length));
  expect(page.status).toBe(200);
  expect(page.text).toContain(orderNo);
  expect(Number(new URL(push?.data.redeemUrl).searchParams.get('exp'))).toBe(
    on.service.clock.now() / 1000 + 7 * 86_400,
  );
  expect(all.forged).toEqual([]);

  // A list filtered by this event type has only the notice. Events in lists have no link.
  const record = { eventType: TYPE, deliveryStatus: 'DELIVERED', eventId: push?.eventId };
  for (const filter of [{}, { deliveryStatus: 'DELIVERED' }, { orderNo }]) {
    expect(await list({ eventType: TYPE, ...filter })).toMatchObject([record]);
    expect((await list({ eventType: 'order.status.changed', ...filter })).length).toBe(1);
    expect((await list({ eventType: 'payment.status.changed', ...filter })).length).toBe(1);
    expect((await list(filter)).length).toBe(3);
  }
  expect(await list({ eventType: TYPE, deliveryStatus: 'PENDING' })).toEqual([]);
  expect((await list({ eventType: TYPE }))[0].data).not.toHaveProperty('redeemUrl');

  const token = await on.channel.getToken();
  const { data } = await on.channel.call('sandbox/events/pull', { path: '/mine' }, { token });
  const pulled = data.pushes.find(({ eventType }: { eventType: string }) => eventType === TYPE);
  expect(JSON.parse(pulled.body)).toMatchObject({
    eventId: push?.eventId,
    data: { ...push?.data, redeemUrl: push?.data.redeemUrl.replace(HOST, 'https://pay.example') },
  });

  const replay = await on.channel.call('events/replay', { eventIds: [push?.eventId] }, { token });
  expect(replay.code, replay.text).toBe('0');
  expect(await on.service.fresh.database.query('select is_payment, is_notice from due_events')).toEqual([
    { is_payment: false, is_notice: true },
  ]);
  await turnsUntil('the replay', () => upcoming(all, orderNo).length === 2);
  expect(upcoming(all, orderNo).map(({ eventId, retryNo }) => [eventId, retryNo])).toEqual([
    [push?.eventId, 0],
    [push?.eventId, 1],
  ]);
});
