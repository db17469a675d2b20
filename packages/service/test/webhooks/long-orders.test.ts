import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPushClient } from '../../src/delivery/transport/push-client.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import type { TestReceiver } from './receiver.js';
import { createSendingNode, registerReceiver, type SendingNode } from './sending.js';

let service: TestService;
let channel: ChannelClient;
let receiver: TestReceiver;
let node: SendingNode;

beforeEach(async () => {
  service = await testService();
  channel = await demoChannel(service);
});
afterEach(async () => {
  await receiver.close();
  await node.stop();
  await service.close();
});

/** As many as there are days in a year or more, each after the one before it. */
const record = (orderNo: number, count: number) =>
  service.fresh.database.query(
    `insert into events (channel_id, order_no, event_type, occurred_at, data)
     select channel_id, $2::bigint, 'order.status.changed', now(), '{"orderNo":"' || $2::bigint || '","place":' || n || '}'
     from channels, generate_series(1, $3) n where app_id = $1`,
    [channel.credentials.appId, orderNo, count],
  );
const places = (orderNo: number) =>
  receiver.pushes.filter(({ data }) => data.orderNo === String(orderNo)).map(({ data }) => data.place);

it.each([300, 6_000])('%i that wait for the first of them: the events of others are told meanwhile', async (count) => {
  receiver = await registerReceiver(service, channel, {
    answer: ({ data }) => (data.orderNo === '1' ? 'hang' : 'accept'),
  });
  node = createSendingNode(service, { pushClient: createPushClient({ allowLocalhost: true, deadlineMs: 300_000 }) });
  await record(1, count);
  for (let orderNo = 2; orderNo <= 201; orderNo += 1) await record(orderNo, 2);
  await node.balance();
  while (await node.read());
  await receiver.until(401).finally(node.keepLease().end);
  expect(places(1)).toEqual([1]);
  for (let orderNo = 2; orderNo <= 201; orderNo += 1) expect(places(orderNo)).toEqual([1, 2]);
});

it('all of them come in their order, each once, and after voided periods what was written after these', async () => {
  receiver = await registerReceiver(service, channel);
  node = createSendingNode(service);
  const orderNo = Number((await channel.call('orders/create', collectRequest(channel))).data.orderNo);
  await record(orderNo, 700);
  await service.fresh.database.query(
    `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
     select channel_id, order_no, event_type, 2, 301, occurred_at, data from events
     where order_no = $1 and event_type = 'payment.status.changed'`,
    [orderNo],
  );
  await record(orderNo, 100);
  await node.turn();
  expect(receiver.pushes).toHaveLength(2 + 700 + 300 + 100);
  const numbers = receiver.pushes.map(({ eventId }) => eventId.split('-').map(Number));
  expect(numbers).toEqual(numbers.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
  expect(new Set(receiver.pushes.map(({ eventId }) => eventId)).size).toBe(receiver.pushes.length);
});
