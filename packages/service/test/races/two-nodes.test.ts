import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { serviceUrl } from '../support/processes.js';

/** Two real processes on one database. */
const fresh = ofFile(installation);
let urls: string[];
let demo: ChannelCredentials;
beforeAll(async () => {
  urls = await Promise.all([fresh.node(), fresh.node()].map(serviceUrl));
  demo = await fresh.demo();
});

const client = (node: number) => channelClient(urls[node] ?? '', demo);

it('a replay at another node is the first answer byte for byte, although the nodes have different PUBLIC_URLs', async () => {
  expect(urls[0]).not.toBe(urls[1]);
  // Removes the fields that differ per request: requestId and timestamp.
  const answered = ({ text }: Reply) => text.replace(/"requestId":"[^"]*","timestamp":"[^"]*"/, '');
  const [one, other] = [client(0), client(1)];
  let orderNo = '';
  for (const request of [
    () => ['orders/create', sharedRequest(one)] as const,
    () => ['orders/create', collectRequest(one)] as const,
    () => ['sandbox/orders/advance', { orderNo, cycles: 1 }] as const,
    () => ['orders/unsubscribe', { orderNo }] as const,
  ]) {
    const [name, body] = request();
    const options = { idempotencyKey: randomUUID() };
    const first = await one.call(name, body, options);
    expect(first.code, first.text).toBe('0');
    ({ orderNo } = first.data);
    const replay = await other.call(name, body, options);
    expect(replay.headers['idempotency-replayed'], name).toBe('true');
    expect(answered(replay), name).toBe(answered(first));
    if (name !== 'orders/unsubscribe') expect(first.data.redeemUrl, name).toContain(`${urls[0]}/redeem?`);
  }
});
