import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { type ChannelCredentials, channelClient, type Reply } from '../support/channel-client.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { type Running, serviceUrl } from '../support/processes.js';

/** Two real processes on one database, and the command line beside them. */
const fresh = ofFile(installation);
const nodes: Running[] = [];
let urls: string[];
let demo: ChannelCredentials;
beforeAll(async () => {
  nodes.push(fresh.node(), fresh.node());
  urls = await Promise.all(nodes.map(serviceUrl));
  demo = await fresh.demo();
});

const client = (node: number) => channelClient(urls[node] ?? '', demo);

it('a nonce used on one node is used on the other, even after that was killed and restarted', async () => {
  const nonce = randomBytes(16).toString('hex');
  const token = await client(0).getToken();
  const options = { nonce, token };
  expect((await client(0).callBare('products/list', {}, options)).code).toBe('0');
  expect((await client(1).callBare('products/list', {}, options)).code).toBe('401004');
  nodes[1]?.child.kill('SIGKILL');
  await nodes[1]?.exited;
  nodes[1] = fresh.node();
  urls[1] = await serviceUrl(nodes[1]);
  expect((await client(1).callBare('products/list', {}, options)).code).toBe('401004');
});

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
