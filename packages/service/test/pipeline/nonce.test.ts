import { randomBytes } from 'node:crypto';
import { HEADERS, PATH_PREFIX } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { resumeChannel, suspendChannel } from '../../src/operator/provisioning/channels.js';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import type { CallOptions, ChannelClient } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { expectEnvelope } from '../support/envelope.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';

const { service, channel } = serviceOfFile();
const node = anotherNodeOfFile(service);
let elsewhere: ChannelClient;
beforeAll(() => {
  elsewhere = node.client(channel);
});

const freshNonce = () => randomBytes(16).toString('hex');
const list = (options: CallOptions, by = channel) => by.call('products/list', {}, options);

describe('X-SVC-Nonce', () => {
  it.each<[string, (nonce: string) => ReturnType<typeof list>]>([
    ['for the same endpoint and body', (nonce) => list({ nonce })],
    ['for another endpoint and body', (nonce) => channel.call('payment-channels/list', { page: 1 }, { nonce })],
    ['in capital letters', (nonce) => list({ nonce: nonce.toUpperCase() })],
    ['on another node', (nonce) => list({ nonce }, elsewhere)],
  ])('401004: used a second time, %s', async (_what, again) => {
    const nonce = `abcdef${freshNonce().slice(6)}`;
    expect((await list({ nonce })).code).toBe('0');
    const reply = await again(nonce);
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401004');
  });

  // The service's clock shows a full ten minutes, which is the beginning of a slot. So a timestamp of this time and a
  // timestamp just before it are in different slots.
  it.each([
    ['an earlier', 0, -1],
    ['a later', -1, 0],
  ])('401004: under %s timestamp of another ten minutes', async (_what, first, second) => {
    const nonce = freshNonce();
    const at = (offset: number) => list({ nonce, timestamp: service.clock.now() + offset });
    expect([(await at(first)).code, (await at(second)).code]).toEqual(['0', '401004']);
  });

  it('0: by another channel', async () => {
    const nonce = freshNonce();
    const other = await service.channel();
    const codes: string[] = [];
    for (const by of [channel, other, other]) codes.push((await list({ nonce }, by)).code);
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
  /** Makes a nonce older in the database, because the database's clock decides when it expires. */
  const age = (nonce: string, milliseconds: number) =>
    service.fresh.database.query(`update nonces set seen_at = seen_at - $2 * interval '1 ms' where nonce = $1`, [
      Buffer.from(nonce, 'hex'),
      milliseconds,
    ]);

  it('401004 just before, 0 after, 401004 from then on, under a timestamp of another ten minutes', async () => {
    const nonce = freshNonce();
    const timestamp = service.clock.now() - 1;
    expect((await list({ nonce })).code).toBe('0');
    await age(nonce, 590_000);
    expect((await list({ nonce, timestamp })).code).toBe('401004');
    await age(nonce, 10_000);
    expect((await list({ nonce, timestamp })).code).toBe('0');
    expect((await list({ nonce, timestamp })).code).toBe('401004');
  });

  it('401004 after, under the same timestamp: of a clock that is 5 minutes fast, it is still accepted', async () => {
    const same = { nonce: freshNonce(), timestamp: service.clock.now() };
    service.clock.advance(-300_000);
    expect((await list(same)).code).toBe('0');
    service.clock.advance(600_000);
    await age(same.nonce, 610_000);
    const again = await list(same);
    service.clock.advance(-300_000);
    expect(again.code).toBe('401004');
  });

  it('401003: the body arrives after the timestamp has expired', async () => {
    const body = '{}';
    const timestamp = service.clock.now() - 290_000;
    const headers = channel.signedHeaders('products/list', Buffer.from(body), {
      timestamp,
      token: await channel.getToken(),
    });
    const raw = rawConnection(service.baseUrl);
    raw.write(requestBytes(`${PATH_PREFIX}products/list`, { ...headers, 'Content-Length': `${body.length}` }, '{'));
    // Another request is answered after the service has read these headers.
    expect((await list({})).code).toBe('0');
    service.clock.advance(27_000);
    raw.write('}');
    const [reply] = await raw.replies(1);
    service.clock.advance(-27_000);
    raw.close();
    expectEnvelope(reply?.envelope, '401003');
  });
});

describe('a nonce counts as used once the signature is valid', () => {
  it.each<[string, string, string, () => CallOptions]>([
    ['0', '401002', 'a bad signature', () => ({ signRaw: 'something else' })],
    ['0', '401001', 'a missing header', () => ({ headers: { [HEADERS.requestId]: undefined } })],
    ['0', '401003', 'a timestamp that is off', () => ({ timestamp: service.clock.now() - 300_001 })],
    ['0', '401002', 'an unknown app id', () => ({ headers: { [HEADERS.appId]: 'test_nobody' } })],
    ['401004', '401005', 'a bad token', () => ({ token: 'x' })],
    ['401004', '400001', 'a bad body', () => ({ raw: '[]' })],
  ])('%s: after %s for %s', async (again, code, _what, fault) => {
    const nonce = freshNonce();
    expect((await list({ nonce, ...fault() })).code).toBe(code);
    expect((await list({ nonce })).code).toBe(again);
  });
});

describe('a request that is refused before its nonce is used up', () => {
  const rows = async (nonce: string) => {
    const seen = await service.fresh.database.query('select from nonces where nonce = $1', [Buffer.from(nonce, 'hex')]);
    return seen.length;
  };
  const setBucket = (by: ChannelClient, tokens: number) =>
    service.fresh.database.query(
      `update rate_limits set tokens = $2, refilled_at = now() + interval '1 hour'
       where channel_id = (select channel_id from channels where app_id = $1)`,
      [by.credentials.appId, tokens],
    );
  async function busyChannel() {
    const busy = await service.channel();
    const token = await busy.getToken();
    return { busy, ask: (options: CallOptions, by = busy) => by.callBare('products/list', {}, { token, ...options }) };
  }

  it.each<[string, string, (by: ChannelClient, isRefused: boolean) => Promise<unknown>]>([
    [
      'the channel is resumed',
      '403002',
      ({ credentials: { appId } }, isRefused) =>
        (isRefused ? suspendChannel : resumeChannel)(service.operator, { appId }),
    ],
    ['the rate leaves room', '429001', (by, isRefused) => setBucket(by, isRefused ? 0 : 1)],
  ])('0: it is sent again as it was, once %s', async (_what, code, set) => {
    const nonce = freshNonce();
    const { busy, ask } = await busyChannel();
    await set(busy, true);
    expect((await ask({ nonce })).code).toBe(code);
    expect(await rows(nonce)).toBe(0);
    await set(busy, false);
    expect((await ask({ nonce })).code).toBe('0');
    expect(await rows(nonce)).toBe(1);
  });

  it('401004: a used nonce, whatever the rate and the suspension', async () => {
    const nonce = freshNonce();
    const { busy, ask } = await busyChannel();
    expect((await ask({ nonce })).code).toBe('0');
    await setBucket(busy, 0);
    expect((await ask({ nonce })).code).toBe('401004');
    await suspendChannel(service.operator, { appId: busy.credentials.appId });
    expect((await ask({ nonce })).code).toBe('401004');
  });

  it.each([
    [1, '401004'],
    [0, '429001'],
  ])('a request 40 times at once over two nodes: %i succeed while the rate allows so many', async (room, again) => {
    const { busy, ask } = await busyChannel();
    const there = node.client(busy);
    const same = { nonce: freshNonce(), requestId: 'same' };
    await setBucket(busy, room);
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(same, n % 2 === 0 ? busy : there)));
    const codes = replies.map((reply) => reply.code);
    expect(codes.filter((code) => code === '0')).toHaveLength(room);
    // The other requests are refused because the nonce was used, or because the rate limit is reached.
    expect(codes.filter((code) => !['0', again, '429001'].includes(code))).toEqual([]);
    expect(await rows(same.nonce)).toBe(room);
    expect((await ask(same)).code).toBe(again);
  });

  it('one 0: on two nodes that both found the nonce new; only then the copy counts for the rate', async () => {
    const { busy, ask } = await busyChannel();
    const same = { nonce: freshNonce(), requestId: 'same' };
    await ask({}, node.client(busy));
    await setBucket(busy, 10);
    const { database } = service.fresh;
    let replies: Promise<{ code: string }>[] = [];
    await database.transaction(async (tx) => {
      await tx.query('update rate_limits set granted = granted');
      replies = [ask(same), ask(same, node.client(busy))];
      await until('both wait', async () => (await lockWaits(database, 'join channels')) >= 2);
    });
    const codes = (await Promise.all(replies)).map((reply) => reply.code);
    expect(codes.sort()).toEqual(['0', '401004']);
    expect(
      await database.query('select tokens from rate_limits join channels using (channel_id) where app_id = $1', [
        busy.credentials.appId,
      ]),
    ).toEqual([{ tokens: 8 }]);
  });
});
