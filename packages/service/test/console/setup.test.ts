import { describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { resolveEndedAlerts } from '../../src/alerts/resolve-sql.js';
import { watchPoolStock } from '../../src/engine/jobs/pool-stock.js';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { testService } from '../support/service.js';
import { personOfFile } from './support.js';

const service = ofFile(testService);
const viewer = personOfFile(() => service, 'viewer');
const support = personOfFile(() => service, 'support');
const admin = personOfFile(() => service, 'admin');

const KEY = /^[A-Za-z0-9+/]{43}=$/;
const PRODUCT = {
  productCode: 'GOLD',
  productName: '黄金会员',
  settlementModes: ['SVC_DEDUCT'],
  periodType: 'MONTH',
  period: 1,
  totalCycles: 12,
  amountCent: 1990,
  benefits: [{ benefitCode: 'PASS', name: 'Pass', faceValueCent: 500 }],
};
const clientOf = (appId: string, credentials: { appSecret: string; aesKey: string; callbackSecret: string }) =>
  channelClient(service.baseUrl, { appId, ...credentials }, () => service.clock.now());
/** Returns the result code for a request that is signed with the client's secret. */
const answerTo = async (client: ChannelClient) => {
  const { appId } = client.credentials;
  return (await client.callBare('auth/token', { grantType: 'client_credentials', appId })).code;
};
const audited = async (action: string) => {
  const { body } = await viewer.get(`/audit?action=${action}`);
  return body.entries.map(({ actor, subject, detail }: Record<string, unknown>) => ({ actor, subject, detail }));
};
const unproven = async (act: () => Promise<{ status: number; body: { type?: string } }>) => {
  await service.fresh.database.query(`update console_sessions set proven_at = now() - interval '6 minutes'`);
  const { status, body } = await act();
  await service.fresh.database.query('update console_sessions set proven_at = now()');
  return [status, body.type?.split(':').at(-1)];
};

describe('a channel', () => {
  it('is created with credentials that work, are shown once, and appear nowhere else', async () => {
    expect((await support.post('/channels', { name: 'No' })).status).toBe(403);
    expect(await unproven(() => admin.post('/channels', { name: 'No' }))).toEqual([403, 'proof-needed']);
    const { status, body } = await admin.post('/channels', {
      name: 'Partner',
      appId: 'test_partner',
      ratePerSecond: 7,
    });
    expect([status, body]).toMatchObject([
      200,
      {
        channel: { appId: 'test_partner', name: 'Partner', ratePerSecond: 7, rateBurst: 14, formerSecretUntil: null },
        credentials: {
          appSecret: expect.stringMatching(KEY),
          aesKey: expect.stringMatching(KEY),
          callbackSecret: expect.stringMatching(KEY),
        },
        baseUrl: 'https://pay.example',
      },
    ]);
    expect(body.channel).not.toHaveProperty('appSecret');
    expect(await answerTo(clientOf('test_partner', body.credentials))).toBe('0');
    const everything = await dump(service.fresh.database);
    for (const secret of Object.values<string>(body.credentials)) expect(everything).not.toContain(secret);
    expect((await viewer.get('/channels/test_partner')).body).toEqual(body.channel);
    expect((await viewer.get('/channels')).body.channels).toContainEqual(body.channel);
    expect((await admin.post('/channels', { name: 'Again', appId: 'test_partner' })).status).toBe(409);
    expect((await viewer.get('/channels/test_nobody')).status).toBe(404);
  });

  it('is changed in several settings at once, all or none', async () => {
    const change = {
      status: 'SUSPENDED',
      ipAllowList: ['203.0.113.0/24'],
      limits: { ratePerSecond: 5 },
      voidedPeriodEvents: false,
      upcomingNoticeDays: 5,
      frameOrigins: ['https://shop.example'],
      encryption: { answers: 'v2', acceptsV1: false },
      callback: { eventType: '*', url: 'https://partner.example/events' },
    };
    expect((await support.put('/channels/test_partner', change)).status).toBe(403);
    const wrong = { ...change, callback: { eventType: '*', url: 'http://10.0.0.1/' } };
    const before = (await viewer.get('/channels/test_partner')).body;
    expect((await admin.put('/channels/test_partner', wrong)).status).toBe(400);
    expect((await viewer.get('/channels/test_partner')).body).toEqual(before);
    expect((await admin.put('/channels/test_partner', change)).body).toMatchObject({
      channel: {
        ...{ status: 'SUSPENDED', ipAllowList: ['203.0.113.0/24'], ratePerSecond: 5, rateBurst: 10 },
        ...{ voidedPeriodEvents: false, upcomingNoticeDays: 5, frameOrigins: ['https://shop.example'] },
        ...{ answerEncryption: 'v2', acceptsV1: false },
        callbackUrls: [{ eventType: '*', url: 'https://partner.example/events' }],
      },
      changed: true,
    });
    expect((await admin.put('/channels/test_partner', change)).body.changed).toBe(false);
    expect((await admin.put('/channels/test_partner', { upcomingNoticeDays: 31 })).status).toBe(400);
    const back = {
      status: 'ACTIVE',
      ipAllowList: [],
      upcomingNoticeDays: null,
      callback: { eventType: '*', url: null },
    };
    expect((await admin.put('/channels/test_partner', back)).body.channel).toMatchObject({
      ...{ status: 'ACTIVE', ipAllowList: [], upcomingNoticeDays: null, callbackUrls: [], ratePerSecond: 5 },
    });
    expect((await admin.put('/channels/test_partner', {})).status).toBe(400);
    expect(await audited('channel.suspend')).toEqual([
      { actor: admin.name, subject: 'test_partner', detail: { from: 'ACTIVE', to: 'SUSPENDED' } },
    ]);
  });

  it('gets new credentials: without an overlap the old ones end at once', async () => {
    const made = (await admin.post('/channels', { name: 'Rolling', appId: 'test_rolling' })).body;
    const old = clientOf('test_rolling', made.credentials);
    const path = '/channels/test_rolling/credentials';
    expect(await unproven(() => admin.post(path, { names: ['appSecret'] }))).toEqual([403, 'proof-needed']);
    const { body } = await admin.post(path, { names: ['appSecret'] });
    expect(Object.keys(body.credentials)).toEqual(['appSecret']);
    expect(await answerTo(old)).toBe('401002');
    expect(await answerTo(clientOf('test_rolling', { ...made.credentials, ...body.credentials }))).toBe('0');
    expect((await admin.post(path, { names: ['aesKey'], overlapHours: 2 })).status).toBe(400);
    expect((await admin.post(path, { names: ['appSecret'], overlapHours: 169 })).status).toBe(400);
  });
});

describe('an authorization', () => {
  it("of a product for Alipay shows Alipay's requirements once, whichever authorization comes first", async () => {
    const path = '/channels/test_periods';
    await admin.post('/channels', { name: 'Periods', appId: 'test_periods' });
    const products = [
      { productCode: 'DAILY', periodType: 'DAY', period: 6 },
      { productCode: 'WEEKLY', periodType: 'DAY', period: 7 },
      { productCode: 'MONTHLY', periodType: 'MONTH', period: 1 },
      { productCode: 'COLLECTED', periodType: 'MONTH', period: 1, settlementModes: ['CHANNEL_COLLECT'] },
    ];
    for (const product of products) await admin.post('/products', { ...PRODUCT, ...product });
    const bank = { gateway: 'sandbox', displayName: 'Pay', supportedBanks: ['*'] };
    for (const code of ['ALIPAY_2', 'OTHERPAY']) await admin.post('/payment-channels', { ...bank, code });
    const warned = (reply: { readonly body: { readonly warnings: readonly Record<string, string>[] } }) =>
      reply.body.warnings.map((one) => `${one['productCode']} ${one['paymentChannelCode']} ${one['rule']}`);

    const daily = ['days-too-few', 'once-a-cycle', 'single-amount'].map((rule) => `DAILY ALIPAY_2 ${rule}`);
    for (const code of ['DAILY', 'COLLECTED']) expect(warned(await admin.put(`${path}/products/${code}`))).toEqual([]);
    expect(warned(await admin.put(`${path}/payment-channels/OTHERPAY`, {}))).toEqual([]);
    expect(warned(await admin.put(`${path}/payment-channels/ALIPAY_2`, {}))).toEqual(daily);
    expect(warned(await admin.put(`${path}/payment-channels/ALIPAY_2`, { shareEnabled: true }))).toEqual([]);
    expect(warned(await admin.put(`${path}/products/WEEKLY`))).toEqual([
      'WEEKLY ALIPAY_2 once-a-cycle',
      'WEEKLY ALIPAY_2 single-amount',
    ]);
    expect(warned(await admin.put(`${path}/products/MONTHLY`))).toEqual([
      'MONTHLY ALIPAY_2 days-of-month',
      'MONTHLY ALIPAY_2 once-a-cycle',
      'MONTHLY ALIPAY_2 single-amount',
    ]);
    expect(warned(await admin.put(`${path}/products/MONTHLY`))).toEqual([]);
  });
});

describe('a product', () => {
  it('is created, and has later versions with their own codes', async () => {
    const first = await admin.post('/products', PRODUCT);
    expect(first.body).toMatchObject({
      ...PRODUCT,
      version: 1,
      versionOf: null,
      channels: [],
      nameZh: null,
      nameEn: null,
    });
    expect((await admin.post('/products', PRODUCT)).status).toBe(409);
    await admin.put('/channels/test_partner/products/GOLD');
    const named = await admin.put('/products/GOLD/names', { nameZh: '金卡', nameEn: null });
    expect(named.body).toMatchObject({ changed: true, product: { productName: PRODUCT.productName, nameZh: '金卡' } });
    expect((await viewer.put('/products/GOLD/names', { nameZh: '银卡' })).status).toBe(403);
    const second = await admin.post('/products/GOLD/versions', { amountCent: 2990 });
    expect(second.body).toMatchObject({
      ...{ ...PRODUCT, productCode: 'GOLD_V2', amountCent: 2990, version: 2, versionOf: 'GOLD' },
      // Users see the same names, because the name is unchanged.
      ...{ retryDelays: first.body.retryDelays, channels: [], nameZh: '金卡' },
    });
    const third = await admin.post('/products/GOLD_V2/versions', {
      ...{ productCode: 'GOLD_2027', totalCycles: 24, benefits: [] },
    });
    expect(third.body).toMatchObject({
      ...{ productCode: 'GOLD_2027', amountCent: 2990, totalCycles: 24, benefits: [], version: 3, versionOf: 'GOLD' },
    });
    expect((await viewer.get('/products/GOLD')).body).toMatchObject({ ...PRODUCT, channels: ['test_partner'] });
    expect((await viewer.get('/products')).body.products).toHaveLength(7);
    expect((await viewer.get('/products/NONE')).status).toBe(404);
    expect((await admin.post('/products/NONE/versions', {})).status).toBe(404);
    expect((await support.post('/products/GOLD/versions', {})).status).toBe(403);
  });

  it('is replaced by a later version for the channels that sell it; running orders continue', async () => {
    const channel = await demoChannel(service);
    const { data } = await channel.call('orders/create', collectRequest(channel));
    const former = 'TEST_SPU_001';
    const { body } = await admin.post(`/products/${former}/versions`, { amountCent: 2190, replacesForChannels: true });
    expect(body).toMatchObject({ productCode: `${former}_V2`, version: 2, channels: ['test_demo'] });
    expect((await viewer.get(`/products/${former}`)).body.channels).toEqual([]);
    const again = await channel.call('orders/query', { orderNo: data.orderNo });
    expect(again.data).toMatchObject({ orderStatus: 'ACTIVE', paymentRecords: data.paymentRecords });
    expect((await channel.call('orders/create', collectRequest(channel))).code).not.toBe('0');
    expect(await audited('product.create-version')).toMatchObject([
      { subject: `${former}_V2`, detail: { formerCode: former, replacesForChannels: true, amountCent: 2190 } },
      {},
      {},
    ]);
    expect(await audited('channel.withdraw-product')).toMatchObject([
      { actor: admin.name, subject: 'test_demo', detail: { productCode: former } },
    ]);
  });

  it('gets unique version numbers, also if three are created concurrently', async () => {
    const replies = await Promise.all([1, 2, 3].map(() => admin.post('/products/WEEKLY/versions', {})));
    expect(replies.map(({ body }) => body.version).toSorted()).toEqual([2, 3, 4]);
  });
});

describe('a payment channel', () => {
  it('with a bridge shows its key when it is created and reset, and never again', async () => {
    const bridge = {
      ...{ code: 'UNI', gateway: 'bridge', displayName: 'Uni', supportedBanks: ['ICBC'] },
      gatewayUrl: 'https://bridge.example/uni',
    };
    expect(await unproven(() => admin.post('/payment-channels', bridge))).toEqual([403, 'proof-needed']);
    const elsewhere = { gatewayUrl: 'https://elsewhere.example' };
    expect(await unproven(() => admin.put('/payment-channels/ANY', elsewhere))).toEqual([403, 'proof-needed']);
    const { body } = await admin.post('/payment-channels', bridge);
    expect(body).toMatchObject({ paymentChannel: { ...bridge, channels: [] }, gatewayKey: expect.stringMatching(KEY) });
    expect((await viewer.get('/payment-channels/UNI')).body).toEqual(body.paymentChannel);
    expect((await viewer.get('/payment-channels')).body.paymentChannels).toContainEqual(body.paymentChannel);
    const reset = await admin.post('/payment-channels/UNI/key');
    expect(reset.body.gatewayKey).toMatch(KEY);
    expect(reset.body.gatewayKey).not.toBe(body.gatewayKey);
    expect((await admin.post('/payment-channels/OTHERPAY/key')).status).toBe(409);
    expect((await viewer.get('/payment-channels/NONE')).status).toBe(404);
  });
});

describe('a benefit', () => {
  const openAlerts = async () =>
    (await viewer.get('/alerts?kind=pool-low')).body.alerts.map(
      ({ subject, detail, seen }: Record<string, unknown>) => ({
        subject,
        detail,
        seen,
      }),
    );
  const watch = () => watchPoolStock(service.fresh.database);

  it('takes its codes from a pool that support may refill', async () => {
    expect((await viewer.get('/benefits')).body.benefits).toContainEqual({
      ...{ benefitCode: 'PASS', name: 'Pass', kind: 'GENERATED', supplierUrl: null, codesLeft: null, claimsWaiting: 0 },
      ...{ lowStock: null, products: expect.arrayContaining(['GOLD', 'GOLD_V2']) },
      presentation: { icon: null, nameZh: null, nameEn: null, descriptionZh: null, descriptionEn: null, useUrl: null },
    });
    expect((await support.put('/benefits/PASS/fulfilment', { kind: 'pool' })).status).toBe(403);
    expect((await support.put('/benefits/PASS/low-stock', { lowStock: 3 })).status).toBe(409);
    expect((await admin.put('/benefits/PASS/fulfilment', { kind: 'pool' })).body).toMatchObject({
      ...{ benefit: { kind: 'POOL', codesLeft: 0 }, changed: true },
    });
    expect((await support.post('/benefits/PASS/codes', { codes: 'CODE-A-1\nCODE-A-2\nCODE-A-2\n' })).body).toEqual({
      benefit: expect.objectContaining({ benefitCode: 'PASS', codesLeft: 2 }),
      ...{ imported: 2, knownBefore: 0, repeated: 1, served: 0 },
    });
    expect((await support.post('/benefits/PASS/codes', { codes: 'A-3\n\u0007\n' })).status).toBe(400);
    expect((await viewer.post('/benefits/PASS/codes', { codes: 'A-4\n' })).status).toBe(403);
    expect(JSON.stringify((await viewer.get('/audit?limit=200')).body)).not.toContain('CODE-A-1');
  });

  it('imports a file of 5 MB and refuses a larger one', async () => {
    const file = (lines: number) => ({ codes: `${'x'.repeat(199)}\n`.repeat(lines) });
    expect((await support.post('/benefits/LARGE/codes', file(25_000))).body).toMatchObject({
      imported: 1,
      repeated: 24_999,
    });
    expect((await support.post('/benefits/LARGE/codes', file(32_000))).body).toMatchObject({ code: 'too-large' });
  });

  it('with too few codes raises an alert once, which ends when the pool is refilled', async () => {
    expect((await support.put('/benefits/PASS/low-stock', { lowStock: 3 })).body).toMatchObject({
      ...{ benefit: { lowStock: 3, codesLeft: 2 }, changed: true },
    });
    expect((await support.put('/benefits/PASS/low-stock', { lowStock: 3 })).body.changed).toBe(false);
    expect(await watch()).toBe(1);
    await watch();
    await resolveEndedAlerts(service.fresh.database);
    expect(await openAlerts()).toEqual([{ subject: 'PASS', detail: '2 codes are left, fewer than 3', seen: 1 }]);
    await support.post('/benefits/PASS/codes', { codes: 'A-5\n' });
    expect(await watch()).toBe(0);
    await resolveEndedAlerts(service.fresh.database);
    expect(await openAlerts()).toEqual([]);
    await service.fresh.database.query(
      `update pool_codes set given_to = 'C1', code = null where ctid = (select min(ctid) from pool_codes)`,
    );
    await watch();
    expect(await openAlerts()).toEqual([{ subject: 'PASS', detail: '2 codes are left, fewer than 3', seen: 2 }]);
    // One alert is enough for an empty pool.
    await raiseAlert(service.fresh.database, 'pool-empty', 'PASS', 'claims wait for codes to be imported');
    expect(await watch()).toBe(0);
    await service.fresh.database.query(
      `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
       values (1, 1, 1, 1, 'PASS', 'POOL', 'PENDING', now())`,
    );
    await resolveEndedAlerts(service.fresh.database);
    expect(await openAlerts()).toEqual([]);
    await service.fresh.database.query(`delete from claims where benefit_code = 'PASS'`);
    await resolveEndedAlerts(service.fresh.database);
    expect(await watch()).toBe(1);
    await support.put('/benefits/PASS/low-stock', { lowStock: null });
    await resolveEndedAlerts(service.fresh.database);
    expect(await openAlerts()).toEqual([]);
    expect(await audited('benefit.set-low-stock')).toEqual([
      { actor: support.name, subject: 'PASS', detail: { from: 3, to: null } },
      { actor: support.name, subject: 'PASS', detail: { from: null, to: 3 } },
    ]);
  });
});
