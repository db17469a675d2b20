import { randomBytes } from 'node:crypto';
import { HEADERS } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resumeChannel, suspendChannel } from '../../src/operator/channels.js';
import type { CallOptions, ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { type TestService, testService } from '../support/service.js';

let service: TestService;
let node: Node;
let channel: ChannelClient;
let elsewhere: ChannelClient;
beforeAll(async () => {
  service = await testService();
  node = await anotherNode(service);
  channel = await service.channel();
  elsewhere = node.client(channel);
});
afterAll(async () => {
  await node.close();
  await service.close();
});

const freshNonce = () => randomBytes(16).toString('hex');
const list = (options: CallOptions, by = channel) => by.call('products/list', {}, options);
const codesOf = async (...calls: (() => ReturnType<typeof list>)[]) => {
  const codes: string[] = [];
  for (const call of calls) codes.push((await call()).code);
  return codes;
};

describe('X-SVC-Nonce', () => {
  it('401004: used a second time', async () => {
    const nonce = freshNonce();
    expect((await list({ nonce })).code).toBe('0');
    const again = await list({ nonce });
    expect(again.status).toBe(401);
    expectEnvelope(again.envelope, '401004');
  });

  it('401004: for another endpoint and body', async () => {
    const nonce = freshNonce();
    await list({ nonce });
    expect((await channel.call('payment-channels/list', { page: 1 }, { nonce })).code).toBe('401004');
  });

  it('401004: in capital letters', async () => {
    const nonce = `abcdef${freshNonce().slice(6)}`;
    const codes = await codesOf(
      () => list({ nonce }),
      () => list({ nonce: nonce.toUpperCase() }),
    );
    expect(codes).toEqual(['0', '401004']);
  });

  it('401004: on another node', async () => {
    const nonce = freshNonce();
    const codes = await codesOf(
      () => list({ nonce }),
      () => list({ nonce }, elsewhere),
    );
    expect(codes).toEqual(['0', '401004']);
  });

  it('401004: after a restart', async () => {
    const nonce = freshNonce();
    const before = await anotherNode(service);
    expect((await list({ nonce }, before.client(channel))).code).toBe('0');
    await before.close();
    const after = await anotherNode(service);
    expect((await list({ nonce }, after.client(channel))).code).toBe('401004');
    await after.close();
  });

  // The service clock stands on a full ten minutes, so these two timestamps are filed under different slots.
  it.each([
    ['an earlier', 0, -1],
    ['a later', -1, 0],
  ])('401004: under %s timestamp of another ten minutes', async (_what, first, second) => {
    const nonce = freshNonce();
    const at = (offset: number) => list({ nonce, timestamp: service.clock.now() + offset });
    expect(
      await codesOf(
        () => at(first),
        () => at(second),
      ),
    ).toEqual(['0', '401004']);
  });

  it('0: by another channel', async () => {
    const nonce = freshNonce();
    const other = await service.channel();
    const codes = await codesOf(
      () => list({ nonce }),
      () => list({ nonce }, other),
      () => list({ nonce }, other),
    );
    expect(codes).toEqual(['0', '0', '401004']);
  });

  it('exactly one 0: the same request 50 times at once, over two nodes', async () => {
    const same = { nonce: freshNonce(), requestId: 'same', token: await channel.getToken() };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? channel : elsewhere).callBare('products/list', {}, same)),
    );
    const codes = replies.map((reply) => reply.code).sort();
    expect(codes).toEqual(['0', ...Array<string>(49).fill('401004')]);
  });
});

describe('ten minutes', () => {
  /** The window is on the database's clock: what was seen is moved into the past. */
  const age = (nonce: string, milliseconds: number) =>
    service.fresh.database.query(`update nonces set seen_at = seen_at - $2 * interval '1 ms' where nonce = $1`, [
      Buffer.from(nonce, 'hex'),
      milliseconds,
    ]);

  it.each([
    ['the same timestamp', 0],
    ['another slot', -1],
  ])('401004 just before, 0 after, 401004 from then on (%s)', async (_what, offset) => {
    const nonce = freshNonce();
    const timestamp = service.clock.now() + offset;
    expect((await list({ nonce })).code).toBe('0');
    await age(nonce, 590_000);
    expect((await list({ nonce, timestamp })).code).toBe('401004');
    await age(nonce, 10_000);
    expect((await list({ nonce, timestamp })).code).toBe('0');
    expect((await list({ nonce, timestamp })).code).toBe('401004');
  });

  it('401004: a refused reuse does not lengthen the wait', async () => {
    const nonce = freshNonce();
    await list({ nonce });
    await age(nonce, 590_000);
    expect((await list({ nonce })).code).toBe('401004');
    await age(nonce, 10_000);
    expect((await list({ nonce })).code).toBe('0');
  });
});

describe('a nonce counts as used once the signature holds', () => {
  it.each<[string, string, (nonce: string) => CallOptions]>([
    ['a bad signature', '401002', () => ({ signRaw: 'something else' })],
    [
      'a signature by another key',
      '401002',
      () => ({ headers: { [HEADERS.signature]: Buffer.alloc(32).toString('base64') } }),
    ],
    ['a missing header', '401001', () => ({ headers: { [HEADERS.requestId]: undefined } })],
    ['a timestamp that is off', '401003', () => ({ timestamp: service.clock.now() - 300_001 })],
    ['an unknown app id', '401002', () => ({ headers: { [HEADERS.appId]: 'test_nobody' } })],
  ])('0: after %s, which burned nothing', async (_what, code, fault) => {
    const nonce = freshNonce();
    expect((await list({ nonce, ...fault(nonce) })).code).toBe(code);
    expect((await list({ nonce })).code).toBe('0');
  });

  it.each<[string, string, CallOptions & { raw?: string }]>([
    ['a bad token', '401005', { token: 'x' }],
    ['a bad body', '400001', { raw: '[]' }],
  ])('401004: after %s', async (_what, code, fault) => {
    const nonce = freshNonce();
    expect((await list({ nonce, ...fault })).code).toBe(code);
    expect((await list({ nonce })).code).toBe('401004');
  });

  it('401004: after a request of the suspended channel', async () => {
    const nonce = freshNonce();
    const { appId } = channel.credentials;
    await suspendChannel(service.operator, { appId });
    expect((await list({ nonce })).code).toBe('403002');
    await resumeChannel(service.operator, { appId });
    expect((await list({ nonce })).code).toBe('401004');
  });

  it('401004: after a request over the rate', async () => {
    const nonce = freshNonce();
    const busy = await service.channel();
    const token = await busy.getToken();
    await service.fresh.database.query(
      `update rate_limits set tokens = 0, refilled_at = now() + interval '1 hour'
       where channel_id = (select channel_id from channels where app_id = $1)`,
      [busy.credentials.appId],
    );
    const ask = (options: CallOptions) => busy.callBare('products/list', {}, { token, ...options });
    expect((await ask({ nonce })).code).toBe('429001');
    await service.fresh.database.query(`update rate_limits set refilled_at = now() - interval '1 hour'`);
    expect((await ask({ nonce })).code).toBe('401004');
    expect((await ask({})).code).toBe('0');
  });
});
