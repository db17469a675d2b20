import { beforeAll, describe, expect, it } from 'vitest';
import { collectRequest, sharedRequest, unique } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';
import { stageOfFile } from './stage-of-file.js';
import { anotherChannel, dailyProduct } from './support.js';

const { service, channel } = stageOfFile();
beforeAll(() => dailyProduct(service, 'ONE_DAY', 1));

const list = (body: object) => channel.call('orders/list', body);
const numbers = (orders: readonly { orderNo: string }[]) => orders.map(({ orderNo }) => orderNo);

/** Creates orders one after the other, oldest first. */
async function orders(channelUserId: string, count: number, more: object = {}): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const reply = await channel.call('orders/create', collectRequest(channel, { channelUserId, ...more }));
    expect(reply.code, reply.text).toBe('0');
    made.push(reply.data.orderNo);
  }
  return made;
}

describe('orders/list', () => {
  it('0: all orders of the user, newest first, each as orders/query shows it', async () => {
    const user = unique('user');
    const made = await orders(user, 2);
    const deducted = await channel.call('orders/create', sharedRequest(channel, { channelUserId: user }));
    await channel.call('orders/unsubscribe', { orderNo: made[0] });
    const expected = [deducted.data.orderNo, made[1], made[0]];
    const { data } = await list({ channelUserId: user });
    expect(numbers(data.orders)).toEqual(expected);
    for (const order of data.orders) {
      expect(order).toEqual((await channel.call('orders/query', { orderNo: order.orderNo })).data);
    }
    expect(data).toEqual({ orders: data.orders, page: 1, size: 100, hasMore: false, nextCursor: null });
  });

  it('0: no orders for an unknown user, nor for the same user id in another channel', async () => {
    const user = unique('user');
    await orders(user, 1);
    const empty = { orders: [], page: 1, size: 100, hasMore: false, nextCursor: null };
    expect((await list({ channelUserId: unique('nobody') })).data).toEqual(empty);
    const other = await anotherChannel(service);
    expect((await other.call('orders/list', { channelUserId: user })).data).toEqual(empty);
  });

  it('0: page size defaults to 100, which is also the maximum', async () => {
    const user = unique('user');
    await Promise.all(
      Array.from({ length: 101 }, () =>
        channel.call('orders/create', collectRequest(channel, { channelUserId: user, productCode: 'ONE_DAY' })),
      ),
    );
    const { data } = await list({ channelUserId: user });
    expect([data.orders.length, data.size, data.hasMore]).toEqual([100, 100, true]);
    const rest = (await list({ channelUserId: user, page: 2 })).data;
    expect([rest.orders.length, rest.hasMore]).toEqual([1, false]);
    expect(new Set(numbers([...data.orders, ...rest.orders])).size).toBe(101);
  });

  it('0: newest first, whichever node created them', async () => {
    const user = unique('user');
    const node = await anotherNode(service);
    const before = service.clock.now();
    // The second node gets a higher block of order numbers than the first, so the numbers are not in order of time.
    const made: string[] = [];
    for (const client of [node.client(channel), channel, node.client(channel), channel]) {
      const reply = await client.call('orders/create', collectRequest(channel, { channelUserId: user }));
      made.push(reply.data.orderNo);
      service.clock.advance(1000);
    }
    const { data } = await list({ channelUserId: user });
    service.clock.set(before);
    await node.close();
    expect(Number(made[0])).toBeGreaterThan(Number(made[1]));
    expect(numbers(data.orders)).toEqual(made.reverse());
  });
});
