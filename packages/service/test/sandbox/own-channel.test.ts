import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decryptField } from '@perennial/wire';
import { describe, expect, it, onTestFinished } from 'vitest';
import { showChannel } from '../../src/operator/provisioning/channels.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { demoChannel, encrypted, sharedRequest } from '../support/demo.js';
import { testService } from '../support/service.js';

/** The settings, secrets, requests and test pushes that a channel sees and changes itself in the sandbox. */

const { service, channel } = serviceOfFile({ requestLog: true, localCallbacks: true }, demoChannel);

const set = (body: object, by: ChannelClient = channel) => by.call('sandbox/channel/set', body);
const newSecret = () => randomBytes(32).toString('base64');
const auditOf = async (appId: string) =>
  service.fresh.database.query<{ actor: string; action: string; detail: unknown }>(
    'select actor, action, detail from audit_log where subject = $1 order by audit_id desc',
    [appId],
  );
/** Creates a channel for tests that change its secrets. */
const ownChannel = () => service.channel();
const clientWith = ({ credentials }: ChannelClient, changed: object) =>
  channelClient(service.baseUrl, { ...credentials, ...changed }, () => service.clock.now());

describe('sandbox/channel/set', () => {
  it('0: reads the settings, changes them, and audits each change under the name of the channel', async () => {
    const own = await ownChannel();
    const { appId } = own.credentials;
    const nothing = {
      callbackUrls: [],
      encryptedFields: 'v1',
      acceptsV1: true,
      upcomingNoticeDays: 0,
      formerSecretUntil: null,
    };
    expect((await set({}, own)).data).toEqual(nothing);
    const url = 'https://shop.example/events';
    const changed = await set({ callbackUrl: url, encryptedFields: 'v2' }, own);
    expect(changed.data).toEqual({ ...nothing, callbackUrls: [{ forEvents: '*', url }], encryptedFields: 'v2' });
    expect(await showChannel(service.operator, { appId })).toMatchObject({
      callbackUrls: [{ eventType: '*', url }],
      answerEncryption: 'v2',
    });
    expect((await auditOf(appId)).slice(0, 2).map(({ actor, action }) => [actor, action])).toEqual([
      [`channel:${appId}`, 'channel.set-encryption'],
      [`channel:${appId}`, 'channel.set-callback'],
    ]);
    const before = await auditOf(appId);
    expect((await set({ callbackUrl: url }, own)).data).toEqual(changed.data);
    expect(await auditOf(appId)).toEqual(before);
    expect((await set({ callbackUrl: '' }, own)).data.callbackUrls).toEqual([]);
    expect((await set({ upcomingNoticeDays: 3 }, own)).data.upcomingNoticeDays).toBe(3);
    expect((await set({ upcomingNoticeDays: 0 }, own)).data.upcomingNoticeDays).toBe(0);
    expect((await auditOf(appId)).slice(0, 2).map(({ action, detail }) => [action, detail])).toEqual([
      ['channel.set-upcoming-notices', { from: 3, to: null }],
      ['channel.set-upcoming-notices', { from: null, to: 3 }],
    ]);
  });

  it('0: events of the next orders have encrypted fields in v2', async () => {
    await set({ encryptedFields: 'v2' });
    const { data } = await channel.call('orders/create', sharedRequest(channel));
    const pulled = await channel.call('sandbox/events/pull', { path: '/' });
    const bodies = pulled.data.pushes.map(({ body }: { body: string }) => JSON.parse(body).data);
    const sealed = bodies.find(({ orderNo, mobileEncrypted }: Record<string, string>) => {
      return orderNo === data.orderNo && mobileEncrypted;
    }).mobileEncrypted;
    expect(sealed).toMatch(/^svc_aes_v2:/);
    expect(decryptField(sealed, Buffer.from(channel.credentials.aesKey, 'base64'))).toMatch(/^1\d{10}$/);
  });

  it('0: with an overlap both app secrets sign; a repeated request changes nothing', async () => {
    const own = await ownChannel();
    const appSecret = newSecret();
    const body = { appSecretEncrypted: encrypted(own, appSecret), overlapHours: 24 };
    const { data, text } = await set(body, own);
    expect(data.formerSecretUntil).toMatch(/^\d{4}-/);
    expect(text).not.toContain(appSecret);
    expect((await set(body, own)).data).toEqual(data);
    const renewed = clientWith(own, { appSecret });
    expect((await set({}, renewed)).code).toBe('0');
    expect((await set({}, own)).code).toBe('0');
    expect(await auditOf(own.credentials.appId)).toContainEqual({
      actor: `channel:${own.credentials.appId}`,
      action: 'channel.reset-credentials',
      detail: { credentials: ['appSecret'], overlapHours: 24 },
    });
  });

  it('0: without an overlap the former secret is refused, and its tokens', async () => {
    const own = await ownChannel();
    const [appSecret, aesKey] = [newSecret(), newSecret()];
    const sealed = { appSecretEncrypted: encrypted(own, appSecret), aesKeyEncrypted: encrypted(own, aesKey) };
    expect((await set(sealed, own)).data.formerSecretUntil).toBeNull();
    expect(await own.call('products/list', {})).toMatchObject({
      code: '401002',
      envelope: { message: expect.stringContaining('secret-before-reset') },
    });
    const renewed = clientWith(own, { appSecret, aesKey });
    const callbackSecretEncrypted = encrypted(renewed, newSecret());
    expect((await set({ callbackSecretEncrypted }, renewed)).code).toBe('0');
  });

  it('400001: an address inside the network, a secret of another form, all or nothing', async () => {
    const own = await ownChannel();
    const refused = await set({ encryptedFields: 'v2', callbackUrl: 'https://10.0.0.1/events' }, own);
    expect(refused.envelope).toMatchObject({
      code: '400001',
      message: expect.stringContaining('its host is not an address on the public internet'),
    });
    const wrong = await set({ appSecretEncrypted: encrypted(own, 'too-short'), encryptedFields: 'v2' }, own);
    expect(wrong.envelope).toMatchObject({
      code: '400001',
      message: expect.stringContaining('32 bytes in standard base64'),
    });
    expect((await set({ overlapHours: 1 }, own)).code).toBe('400001');
    expect((await set({}, own)).data).toMatchObject({ encryptedFields: 'v1', callbackUrls: [] });
  });
});

describe('sandbox/events/test', () => {
  it('0: pushes to the callback address and returns what the receiver answered', async () => {
    const own = await ownChannel();
    expect((await own.call('sandbox/events/test', {})).data).toMatchObject({
      url: null,
      accepted: false,
      answer: 'the channel has no callback address for order.status.changed',
    });
    let code = '0';
    const bodies: { eventId: string; eventType: string; data: unknown }[] = [];
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        bodies.push(JSON.parse(text));
        response.end(JSON.stringify({ code }));
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void receiver.close());
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
    await set({ callbackUrl: url }, own);
    const { data } = await own.call('sandbox/events/test', { eventType: 'payment.upcoming' });
    expect(data).toMatchObject({ url, accepted: true, httpStatus: 200, answer: '{"code":"0"}' });
    expect(bodies).toEqual([
      expect.objectContaining({ eventId: data.eventId, eventType: 'payment.upcoming', data: { test: true } }),
    ]);
    code = '1';
    const refused = await own.call('sandbox/events/test', {});
    expect(refused.data).toMatchObject({ accepted: false, answer: '{"code":"1"}' });
    expect((await own.call('events/list', {})).data.events).toEqual([]);
  });
});

describe('sandbox/requests/list', () => {
  const listed = async (by: ChannelClient, body: object = {}) => {
    const { data } = await by.call('sandbox/requests/list', body);
    return data.requests as { requestId: string; path: string; code: string; reason: string | null }[];
  };
  /** Waits until the log, which is written after the answer, has a request of the channel for this endpoint. */
  const logged = (by: ChannelClient, endpoint: string) =>
    expect.poll(async () => (await listed(by)).map(({ path }) => path)).toContain(`/openapi/v1/${endpoint}`);

  it("0: lists the channel's requests with the reason of a refusal, and no other channel's", async () => {
    const own = await ownChannel();
    const other = await anotherChannel(service);
    await other.call('orders/query', { orderNo: '1' });
    await own.call('products/list', {});
    await own.call('orders/query', { orderNo: '1', externalOrdrNo: 'X' });
    const requestId = 'mine-1';
    const wrong = own.signedHeaders('auth/token', Buffer.from('{}'), { requestId });
    await own.callBare('auth/token', { a: 1 }, { headers: wrong });
    await logged(own, 'auth/token');
    await logged(own, 'orders/query');
    await logged(own, 'products/list');
    const failed = await listed(own, { code: 'failed' });
    expect(failed.map(({ path, code }) => [path, code])).toEqual(
      expect.arrayContaining([
        ['/openapi/v1/auth/token', '401002'],
        ['/openapi/v1/orders/query', '420001'],
      ]),
    );
    expect(failed.filter(({ path }) => path.endsWith('products/list'))).toEqual([]);
    const reasons = failed.map(({ reason }) => reason).join();
    expect(reasons).toContain('unknown field externalOrdrNo is ignored: externalOrderNo was probably meant');
    const [found] = await listed(own, { requestId });
    expect(found).toMatchObject({ requestId, code: '401002', reason: expect.stringContaining('body') });
    expect(await listed(other, { requestId })).toEqual([]);
    expect((await listed(own)).filter(({ path }) => path.endsWith('requests/list'))).toEqual([]);
  });

  it('0: pages by cursor, which is valid for its own question only', async () => {
    const own = await ownChannel();
    for (const endpoint of ['products/list', 'payment-channels/list']) await own.call(endpoint, {});
    await logged(own, 'payment-channels/list');
    await logged(own, 'products/list');
    const first = await own.call('sandbox/requests/list', { size: 1 });
    const { nextCursor: cursor, requests } = first.data;
    const rest = await own.call('sandbox/requests/list', { size: 100, cursor });
    expect(rest.data.nextCursor).toBeNull();
    const ids = [...requests, ...rest.data.requests].map(({ requestId }) => requestId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(1);
    expect((await own.call('sandbox/requests/list', { code: 'failed', cursor })).code).toBe('400001');
  });
});

it('404001: production has none of these endpoints', async () => {
  const production = await testService({ environment: 'production' });
  onTestFinished(() => production.close());
  const own = await production.channel();
  for (const endpoint of ['sandbox/channel/set', 'sandbox/events/test', 'sandbox/requests/list']) {
    expect([endpoint, (await own.call(endpoint, {})).code]).toEqual([endpoint, '404001']);
  }
});
