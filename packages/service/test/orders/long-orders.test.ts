import http from 'node:http';
import { PATH_PREFIX } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelClient, Reply } from '../support/channel-client.js';
import { collectRequest, sharedRequest, unique } from '../support/demo.js';
import { dailyProduct, type Stage, stage } from './support.js';

/** Answers with thousands of periods are made in stretches: the text is the same, and nobody waits for them. */

let on: Stage;
let channel: ChannelClient;
/** Called when the service makes the link of an order, which is when it begins to make its text. */
let atLink: () => void = () => undefined;
const LENGTHS = [1, 2, 500, 501, 502, 1001, 9999];
beforeAll(async () => {
  on = await stage({
    publicUrl: () => {
      atLink();
      return 'https://pay.example';
    },
  });
  ({ channel } = on);
  for (const length of LENGTHS) await dailyProduct(on.service, `DAYS_${length}`, length);
});
afterAll(() => on.close());

const call = async (name: string, body: object) => {
  const reply = await channel.call(name, body);
  expect(reply.code, reply.text.slice(0, 1000)).toBe('0');
  return reply;
};
const create = (productCode: string, channelUserId: string) =>
  call('orders/create', collectRequest(channel, { channelUserId, productCode }));

/** The bytes between the envelope's own. */
function dataText({ text }: Reply): string {
  return text.slice(text.indexOf('"data":') + '"data":'.length, text.lastIndexOf(',"requestId":'));
}
/** Not by toBe: the difference of two texts of a megabyte is nothing to look at. */
function expectSame(text: string, expected: string): void {
  let at = 0;
  while (text[at] !== undefined && text[at] === expected[at]) at += 1;
  expect([at, text.length]).toEqual([expected.length, expected.length]);
}

describe('the text of a long order', () => {
  it.each(LENGTHS)('is that of its creation, in orders/query and orders/list: %i periods', async (length) => {
    const user = unique('user');
    const made = dataText(await create(`DAYS_${length}`, user));
    const { orderNo } = JSON.parse(made);
    expectSame(dataText(await call('orders/query', { orderNo })), made);
    expectSame(
      dataText(await call('orders/list', { channelUserId: user })),
      `{"orders":[${made}],"page":1,"size":100,"hasMore":false,"nextCursor":null}`,
    );
  });

  it('is the same when some periods were started, and when the others are void', async () => {
    const user = unique('user');
    const { orderNo } = (
      await call('orders/create', sharedRequest(channel, { channelUserId: user, productCode: 'DAYS_1001' }))
    ).data;
    for (const step of [
      () => call('sandbox/orders/advance', { orderNo, cycles: 3 }),
      () => call('orders/unsubscribe', { orderNo }),
    ]) {
      const now = dataText(await step());
      expectSame(dataText(await call('orders/query', { orderNo })), now);
      expectSame(
        dataText(await call('orders/list', { channelUserId: user, size: 1 })),
        `{"orders":[${now}],"page":1,"size":1,"hasMore":false,"nextCursor":null}`,
      );
    }
  });

  it('stands in a list between others, long and short', async () => {
    const user = unique('user');
    const made: string[] = [];
    for (const length of [2, 1001, 1, 9999, 2]) made.unshift(dataText(await create(`DAYS_${length}`, user)));
    expectSame(
      dataText(await call('orders/list', { channelUserId: user })),
      `{"orders":[${made.join(',')}],"page":1,"size":100,"hasMore":false,"nextCursor":null}`,
    );
  });
});

describe('while long orders are being made', () => {
  it.each([
    ['orders/query', 1, 9999],
    ['orders/list', 6, 9999],
    ['orders/list', 25, 500],
  ])('another request is answered before the end of %s of %i with %i periods', async (name, count, length) => {
    const user = unique('user');
    const made = await Promise.all(Array.from({ length: count }, () => create(`DAYS_${length}`, user)));
    const answered: string[] = [];
    const others: Promise<unknown>[] = [];
    // Sent in the moment in which the service has read the orders and begins with the first.
    atLink = () => {
      atLink = () => undefined;
      others.push(answeredWhole('/healthz').then(() => answered.push('/healthz')));
    };
    const body = name === 'orders/list' ? { channelUserId: user } : { orderNo: made[0]?.data.orderNo };
    await signed(name, body).then(() => answered.push(name));
    await Promise.all(others);
    expect(answered).toEqual(['/healthz', name]);
  });
});

/** Until the end of the answer. */
function answeredWhole(path: string, headers: http.OutgoingHttpHeaders = {}, body?: Buffer): Promise<void> {
  const { hostname, port } = new URL(on.service.baseUrl);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method: body ? 'POST' : 'GET', agent: false, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('end', resolve);
      response.resume();
    });
    request.end(body);
  });
}

async function signed(name: string, body: object): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body));
  const token = await channel.getToken();
  await answeredWhole(`${PATH_PREFIX}${name}`, channel.signedHeaders(name, bytes, { token }), bytes);
}
