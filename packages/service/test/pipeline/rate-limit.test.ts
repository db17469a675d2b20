import { beforeEach, describe, expect, it } from 'vitest';
import { setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import { type ChannelClient, channelClient, type Reply } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';

const { service } = serviceOfFile();
const node = anotherNodeOfFile(service);

async function channelWith(ratePerSecond: number, rateBurst: number): Promise<ChannelClient> {
  const created = await createChannel(service.operator, { name: 'Busy channel', ratePerSecond, rateBurst });
  return channelClient(service.baseUrl, created, () => service.clock.now());
}

const ask = (channel: ChannelClient) =>
  channel.callBare('auth/token', { grantType: 'client_credentials', appId: channel.credentials.appId });
const codes = (replies: readonly Reply[]) => replies.map((reply) => reply.code);
async function inTurn(count: number, channel: ChannelClient): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let n = 0; n < count; n += 1) replies.push(await ask(channel));
  return replies;
}

/**
 * Moves the time of the last refill, by the database's clock. If that time is in the future, nothing is refilled until
 * it has come.
 */
const refilledAt = (channel: ChannelClient, seconds: number) =>
  service.fresh.database.query(
    `update rate_limits set refilled_at = now() + $2 * interval '1 s'
     where channel_id = (select channel_id from channels where app_id = $1)`,
    [channel.credentials.appId, seconds],
  );
const stopRefill = (channel: ChannelClient) => refilledAt(channel, 3600);

describe('the rate of a channel', () => {
  let channel: ChannelClient;
  beforeEach(async () => {
    channel = await channelWith(2, 3);
    await stopRefill(channel);
  });

  it('429001: after the burst, with Retry-After', async () => {
    const replies = await inTurn(5, channel);
    expect(codes(replies)).toEqual(['0', '0', '0', '429001', '429001']);
    const refused = replies[4];
    expect(refused?.status).toBe(429);
    expectEnvelope(refused?.envelope, '429001');
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it.each([
    ['the bucket is refilled for the time that has passed', 1, 2],
    ['a long pause refills no more than the burst', 86_400, 3],
  ])('0: %s', async (_what, seconds, worth) => {
    await inTurn(4, channel);
    await refilledAt(channel, -seconds);
    // Sends one request, which refills the bucket, and then stops the refill. Otherwise the bucket would go on filling
    // during the other requests.
    const first = await ask(channel);
    await stopRefill(channel);
    const rest = await inTurn(worth, channel);
    expect(codes([first, ...rest])).toEqual([...Array<string>(worth).fill('0'), '429001']);
  });

  it('429001: a refused request writes nothing', async () => {
    await inTurn(3, channel);
    const written = () =>
      service.fresh.database.query<{ nonces: number; bucket: string }>(
        `select (select count(*) from nonces where channel_id = c.channel_id)::integer as nonces,
           (select r.xmin::text || r.ctid::text from rate_limits r where r.channel_id = c.channel_id) as bucket
         from channels c where app_id = $1`,
        [channel.credentials.appId],
      );
    const before = await written();
    expect(before).toMatchObject([{ nonces: 3 }]);
    expect(codes(await inTurn(4, channel))).toEqual(Array<string>(4).fill('429001'));
    const atOnce = await Promise.all(Array.from({ length: 40 }, () => ask(channel)));
    expect(codes(atOnce)).toEqual(Array<string>(40).fill('429001'));
    expect(await written()).toEqual(before);
  });

  it('429001: no more than the burst is granted in total, over two nodes at once', async () => {
    const busy = await channelWith(20, 20);
    await stopRefill(busy);
    const there = node.client(busy);
    const replies = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(n % 2 === 0 ? busy : there)));
    expect(codes(replies).filter((code) => code === '0')).toHaveLength(20);
    expect(codes(replies).filter((code) => code === '429001')).toHaveLength(40);
  });

  it("0: one channel's limit does not affect another's in the same batches", async () => {
    const other = await channelWith(50, 50);
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? channel : other)));
    expect(codes(replies.filter((_, n) => n % 2 === 1))).toEqual(Array<string>(20).fill('0'));
    expect(codes(replies.filter((_, n) => n % 2 === 0)).filter((code) => code === '0')).toHaveLength(3);
  });

  it('0: requests that are refused for another reason take nothing from the rate', async () => {
    for (let n = 0; n < 5; n += 1) await channel.callBare('auth/token', {}, { signRaw: 'something else' });
    const nonce = 'e'.repeat(32);
    await channel.callBare('auth/token', {}, { nonce });
    for (let n = 0; n < 5; n += 1) {
      expect((await channel.callBare('auth/token', {}, { nonce })).code).toBe('401004');
    }
    expect(codes(await inTurn(3, channel))).toEqual(['0', '0', '429001']);
  });

  it('a smaller limit applies at once, also to saved tokens', async () => {
    const busy = await channelWith(100, 200);
    const there = node.client(busy);
    expect(codes([await ask(busy), await ask(there)])).toEqual(['0', '0']);
    await setLimits(service.operator, { appId: busy.credentials.appId, ratePerSecond: 1, rateBurst: 2 });
    await stopRefill(busy);
    expect(codes([await ask(busy), await ask(there), await ask(busy), await ask(there)])).toEqual([
      '0',
      '0',
      '429001',
      '429001',
    ]);
  });

  it('a larger limit applies at once', async () => {
    await inTurn(4, channel);
    await setLimits(service.operator, { appId: channel.credentials.appId, ratePerSecond: 10, rateBurst: 10 });
    await refilledAt(channel, -1);
    expect(codes(await inTurn(10, channel))).toEqual(Array<string>(10).fill('0'));
  });
});
