import { startInstitution } from '@perennial/reference-peers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listOpenPaymentChannels } from '../../src/catalog/payment-channels/pace-sql.js';
import type { Supplier } from '../../src/fulfilment/fulfilment.js';
import type { Fulfilments } from '../../src/fulfilment/fulfilment-registry.js';
import { watchSuppliers } from '../../src/fulfilment/watch-suppliers.js';
import { createCallCounter } from '../../src/gateways/call-counts.js';
import { storeCalls } from '../../src/gateways/call-counts-sql.js';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { systemClock } from '../../src/platform/clock.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { paid } from '../orders/support.js';
import { attemptNoOf, declined, unknown } from '../renewals/support.js';
import { attachBridge } from '../support/bridged-channel.js';
import { channelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel, sharedRequest } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { testService } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';
import { operatorStage } from './operators.js';
import { personOfFile } from './support.js';

const on = ofFile(() => operatorStage({ localCallbacks: true, testLimits: { healthSeconds: 0.05 } }));

const institution = async (range = '24h') => {
  const { body } = await on.viewer.get(`/health?range=${range}`);
  return body.institutions.find(({ code }: { code: string }) => code === 'MOCKPAY');
};
const create = async () => (await on.channel.call('orders/create', sharedRequest(on.channel))).data.orderNo as string;

describe('the calls to an institution', () => {
  it('are counted by result', async () => {
    expect((await institution()).calls).toMatchObject({ calls: 0, averageMs: null, slowestMs: null });
    await create();
    on.institution.onDebit = async () => declined('final');
    await create();
    on.institution.onDebit = async () => unknown;
    await create();
    on.institution.onDebit = async () => ({ kind: 'pending' });
    await create();
    on.institution.reset();
    const counted = { calls: 4, succeeded: 1, declined: 1, unknown: 1, debitsPaid: 1, debitsDeclined: 1 };
    await until('the counts', async () => (await institution()).calls.calls === 4);
    for (const range of ['15m', '24h', '30d']) expect((await institution(range)).calls).toMatchObject(counted);
    expect(await institution()).toMatchObject({ silentSince: null, decliningSince: null, debitsPausedAt: null });
    expect((await on.viewer.get('/health?range=1y')).status).toBe(400);
  });

  it('of the last days do not count for the last minutes', async () => {
    await on.sql(`update peer_calls set at = at - interval '2 hours'`);
    expect((await institution('15m')).calls.calls).toBe(0);
    expect((await institution('24h')).calls.calls).toBe(4);
  });

  it('are counted for each minute, hour or day, also without calls', async () => {
    const spans = async (range: string): Promise<{ readonly at: string; readonly calls: number }[]> =>
      (await institution(range)).series;
    const [minutes, hours, days] = [await spans('15m'), await spans('24h'), await spans('30d')];
    expect([minutes.length, hours.length, days.length]).toEqual([15, 24, 30]);
    expect(minutes.every(({ calls }) => calls === 0)).toBe(true);
    expect(hours.filter(({ calls }) => calls > 0)).toMatchObject([{ calls: 4, declined: 1, unknown: 1 }]);
    // The calls of two hours ago may be of yesterday.
    expect(days.slice(-2).reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
    expect(days.every(({ at }) => at.endsWith('00:00:00'))).toBe(true);
  });
});

it('calls to suppliers are counted by benefit', async () => {
  const supplierUrl = 'http://127.0.0.1:1';
  await setFulfilment(on.operator, {
    benefitCode: 'COUPON',
    kind: 'supplier',
    supplierUrl,
    supplierKey: Buffer.alloc(32, 7),
  });
  const claim = { claimNo: 'C1', benefitCode: 'COUPON', faceValueCent: 1, orderNo: 1, cycleNo: 1 };
  const supplier: Supplier = {
    kind: 'SUPPLIER',
    fulfil: async () => ({ kind: 'refused', reason: 'none left' }),
    query: async () => ({ kind: 'unknown' }),
  };
  const inner: Fulfilments = {
    of: async () => supplier,
    supplierOf: async () => supplier,
    close: async () => undefined,
  };
  const counter = createCallCounter();
  const watched = watchSuppliers(inner, counter);
  await (await watched.supplierOf('COUPON')).fulfil(claim);
  const found = await watched.of(on.service.fresh.database, 'COUPON');
  if (found.kind === 'SUPPLIER') await found.query(claim);
  await storeCalls(on.service.fresh.database, counter.take());
  const { body } = await on.viewer.get('/health');
  expect(body.suppliers).toMatchObject([
    {
      benefitCode: 'COUPON',
      name: 'Coupon',
      nameZh: null,
      nameEn: null,
      calls: { calls: 2, succeeded: 0, declined: 1, unknown: 1 },
    },
  ]);
});

describe('pushes to channels', () => {
  /** The events of a new order in mode B: of the order and of its first period. */
  const EVENTS = 2;
  const receiver = ofFile(() => startReceiver());
  const testLimits = { healthSeconds: 0.05 };
  const { service, channel } = serviceOfFile(
    { clock: systemClock, engine: true, localCallbacks: true, testLimits },
    async (made) => {
      made.clock.set(systemClock.now());
      const demo = await demoChannel(made);
      const { appId, callbackSecret } = demo.credentials;
      receiver.know(appId, callbackSecret);
      await setCallback({ ...made.operator, localCallbacks: true }, { appId, eventType: '*', url: receiver.url });
      return demo;
    },
  );
  const viewer = personOfFile(() => service, 'viewer');
  const callbacks = async () => (await viewer.get('/health?range=15m')).body.callbacks;
  /** Creates an order and waits until its pushes are counted. Returns the counts. */
  const orderAndPush = async () => {
    const before = (await callbacks()).calls.calls;
    expect((await channel.call('orders/create', collectRequest(channel))).data).toHaveProperty('orderNo');
    await receiver.until(before + EVENTS);
    await until('the counts', async () => (await callbacks()).calls.calls === before + EVENTS);
    return (await callbacks()).calls;
  };

  it('are counted by result, for all channels and for each', async () => {
    expect(await callbacks()).toMatchObject({ calls: { calls: 0, averageMs: null }, channels: [] });
    expect(await orderAndPush()).toMatchObject({ succeeded: EVENTS, declined: 0, unknown: 0 });
    receiver.answer({ status: 500, body: 'not now' });
    expect(await orderAndPush()).toMatchObject({ succeeded: EVENTS, declined: EVENTS, unknown: 0 });
    receiver.answer('close');
    const all = await orderAndPush();
    expect(all).toMatchObject({ calls: 3 * EVENTS, succeeded: EVENTS, declined: EVENTS, unknown: EVENTS });
    const { series, channels } = await callbacks();
    expect(series).toHaveLength(15);
    expect(channels).toEqual([{ appId: channel.credentials.appId, name: expect.any(String), calls: all }]);
  });
});

describe('a pause of renewals', () => {
  const code = 'MOCKPAY';
  const pause = () => on.ann.post(`/payment-channels/${code}/pause`, { reason: 'declines everything' });
  const resume = () => on.ann.post(`/payment-channels/${code}/resume`);
  const statusOf = async (orderNo: string, cycleNo: number) => {
    const values = [orderNo, cycleNo];
    const [row] = await on.sql<{ status: string }>(
      'select status from payments where order_no = $1 and cycle_no = $2',
      values,
    );
    return row?.status;
  };

  it('shows before what it holds and what goes on', async () => {
    const orderNo = await on.paidOrder();
    await on.sql(`update orders set next_due_at = now() + interval '23 hours' where order_no = $1`, [orderNo]);
    const { body } = await on.viewer.get(`/payment-channels/${code}/pause`);
    expect(body).toEqual({ renewalsDue: 1, isAtLeast: false, firstDebits: expect.any(Number), inFlight: 2 });
    expect((await on.viewer.get('/payment-channels/NONE/pause')).status).toBe(404);
    await on.sql(`update orders set next_due_at = now() + interval '25 hours' where order_no = $1`, [orderNo]);
    expect((await on.viewer.get(`/payment-channels/${code}/pause`)).body.renewalsDue).toBe(0);
  });

  it('holds renewals until they are resumed, then debits each period once', async () => {
    const orderNo = await on.paidOrder();
    expect(await pause()).toMatchObject({ body: { changed: true, paymentChannel: { code } } });
    expect((await pause()).body.changed).toBe(false);
    expect((await institution()).debitsPausedAt).toEqual(expect.any(String));
    on.institution.debits.length = 0;
    await on.renewNow(orderNo);
    expect(on.institution.debits).toEqual([]);
    expect((await listOpenPaymentChannels(on.service.fresh.database)).map((one) => one.code)).not.toContain(code);
    expect(await resume()).toMatchObject({ body: { changed: true, paymentChannel: { debitsPausedAt: null } } });
    expect((await resume()).body.changed).toBe(false);
    expect((await listOpenPaymentChannels(on.service.fresh.database)).map((one) => one.code)).toContain(code);
    await on.renew();
    expect(on.institution.debits.map(({ attemptNo }) => attemptNo)).toEqual([attemptNoOf(orderNo, 2, 1)]);
    expect(await statusOf(orderNo, 2)).toBe('SUCCESS');
  });

  it('queries debits in flight, and sends no renewal again that the institution does not know', async () => {
    const [known, unseen] = [await on.paidOrder(), await on.paidOrder()];
    on.institution.onDebit = async () => unknown;
    await on.sql('update orders set next_due_at = now() where order_no = any($1::bigint[])', [[known, unseen]]);
    await on.renew();
    await pause();
    on.institution.reset();
    on.institution.onQuery = async (request) => (request.orderNo === unseen ? { kind: 'not-found' } : paid(request));
    await on.askPending();
    expect(await statusOf(known, 2)).toBe('SUCCESS');
    expect(await statusOf(unseen, 2)).toBe('PROCESSING');
    expect(on.institution.debits).toEqual([]);
    await resume();
    await on.askPending();
    expect(on.institution.debits.map(({ attemptNo }) => attemptNo)).toEqual([attemptNoOf(unseen, 2, 1)]);
    expect(await statusOf(unseen, 2)).toBe('SUCCESS');
  });

  it('does not hold first debits, and a lost first debit is sent again', async () => {
    await pause();
    expect((await on.query(await create())).orderStatus).toBe('ACTIVE');
    on.institution.onDebit = async () => unknown;
    const lost = await create();
    on.institution.reset();
    on.institution.onQuery = async () => ({ kind: 'not-found' });
    await on.askPending();
    expect((await on.query(lost)).orderStatus).toBe('ACTIVE');
    await resume();
  });

  it('is for finance and admins, with a proof, and audited with its reason', async () => {
    const path = `/payment-channels/${code}/pause`;
    expect((await on.support.post(path, { reason: 'no' })).status).toBe(403);
    expect((await on.ann.post(path, {})).status).toBe(400);
    await on.sql(`update console_sessions set proven_at = now() - interval '6 minutes'`);
    for (const act of [pause, resume]) {
      const { status, body } = await act();
      expect([status, body.type]).toEqual([403, 'urn:perennial:problem:proof-needed']);
    }
    await on.sql('update console_sessions set proven_at = now()');
    const { body } = await on.viewer.get('/audit?action=payment-channel.pause');
    expect(body.entries[0]).toMatchObject({ actor: 'ann', subject: code, detail: { reason: 'declines everything' } });
    expect((await on.viewer.get('/audit?action=payment-channel.resume')).body.entries[0]).toMatchObject({
      subject: code,
    });
  });
});

describe('with real peers', () => {
  const service = ofFile(() => testService({ testLimits: { healthSeconds: 0.05 } }));
  const support = personOfFile(() => service, 'support');

  it('a test call says whether the bridge answers, and why not', async () => {
    service.clock.set(systemClock.now());
    const { credentials } = await demoChannel(service);
    const port = await freePort();
    const gatewayKey = await attachBridge(service.operator, credentials.appId, 'UNIPAY', `http://127.0.0.1:${port}`);
    const test = async (code = 'UNIPAY') => (await support.post(`/payment-channels/${code}/test`)).body;
    expect(await test()).toMatchObject({
      isGood: false,
      calls: [{ operation: 'handshake', isAnswered: false, said: 'ECONNREFUSED' }],
    });
    const peer = { port, clock: systemClock, noticeUrl: `${service.baseUrl}/gateway/v1/notices/UNIPAY` };
    const stranger = await startInstitution({ ...peer, key: Buffer.alloc(32, 1) });
    expect(await test()).toMatchObject({
      isGood: false,
      calls: [{ isAnswered: false, said: /HTTP status|signature/ }],
    });
    await stranger.stop();
    const institution = await startInstitution({ ...peer, key: Buffer.from(gatewayKey, 'base64') });
    onTestFinished(() => institution.stop());
    expect(await test()).toMatchObject({
      isGood: true,
      calls: [
        { operation: 'handshake', isAnswered: true, said: 'CNY' },
        { operation: 'debit-query', isAnswered: true, said: 'not-found' },
      ],
    });
    expect(await test('MOCKPAY')).toMatchObject({ status: 409, code: 'gateway-without-bridge' });
    expect((await support.post('/payment-channels/NONE/test')).status).toBe(404);
    const isTest = `actor = $1 and action = 'payment-channel.test' and subject = 'UNIPAY'`;
    const { database } = service.fresh;
    expect(await database.query(`select from audit_log where ${isTest}`, [support.name])).toHaveLength(3);
    await database.query(
      `insert into audit_log (at, actor, action, subject, detail)
       select now(), $1, 'payment-channel.test', 'UNIPAY', '{}' from generate_series(1, 60)`,
      [support.name],
    );
    expect(await test()).toMatchObject({ status: 429, code: 'reads-used-up' });
  });
});

describe('the checklist of a new channel', () => {
  const receiver = ofFile(() => startReceiver());
  const appId = 'test_new_channel';

  it('follows the data until the first order', async () => {
    const made = await createChannel(on.operator, { name: 'New', appId });
    const channel = channelClient(on.service.baseUrl, made, () => on.service.clock.now());
    const open = async () => {
      const { status, body } = await on.viewer.get(`/channels/${appId}/setup`);
      expect(status).toBe(200);
      return body.steps.flatMap((one: { step: string; state: string }) => (one.state === 'OPEN' ? [one.step] : []));
    };
    const left = ['credentials', 'product', 'paymentChannel', 'callback', 'branding', 'limits', 'order'];
    const done = (step: string) => left.splice(left.indexOf(step), 1);
    expect(await open()).toEqual(left);

    expect((await channel.callBare('auth/token', { grantType: 'client_credentials', appId })).code).toBe('0');
    done('credentials');
    expect(await open()).toEqual(left);
    await authorizeProduct(on.operator, { appId, productCode: 'TEST_SPU_001' });
    done('product');
    expect(await open()).toEqual(left);
    await authorizePaymentChannel(on.operator, { appId, code: 'MOCKPAY', isDefault: true, shareEnabled: true });
    done('paymentChannel');
    expect(await open()).toEqual(left);

    receiver.know(appId, made.callbackSecret);
    const change = (what: object) => on.admin.put(`/channels/${appId}`, what);
    expect((await change({ callback: { eventType: '*', url: receiver.url } })).status).toBe(200);
    expect(await open()).toEqual(left);
    receiver.answer({ status: 500, body: 'not yet' });
    await on.support.post(`/channels/${appId}/events/test`);
    expect(await open()).toEqual(left);
    receiver.answer('accept');
    await on.support.post(`/channels/${appId}/events/test`);
    done('callback');
    expect(await open()).toEqual(left);

    expect((await on.admin.put(`/channels/${appId}/branding`, { displayName: 'New shop' })).status).toBe(200);
    done('branding');
    expect(await open()).toEqual(left);
    expect((await change({ ipAllowList: ['127.0.0.0/8'] })).status).toBe(200);
    done('limits');
    expect(await open()).toEqual(left);
    const created = await channel.call('orders/create', collectRequest(channel));
    expect(created.code, created.text).toBe('0');
    expect((await on.viewer.get(`/channels/${appId}/setup`)).body.isLive).toBe(true);
    expect((await on.viewer.get('/channels/nobody/setup')).status).toBe(404);
  });

  it('needs no payment channel if the channel collects the money itself', async () => {
    await createChannel(on.operator, { name: 'Collects', appId: 'test_collects' });
    await createProduct(on.operator, {
      productCode: 'COLLECTED',
      productName: 'Collected',
      settlementModes: ['CHANNEL_COLLECT'],
      periodType: 'MONTH',
      period: 1,
      totalCycles: 2,
      amountCent: 100,
      benefits: [],
    });
    await authorizeProduct(on.operator, { appId: 'test_collects', productCode: 'COLLECTED' });
    const { body } = await on.viewer.get('/channels/test_collects/setup');
    expect(body.steps).toContainEqual({ step: 'paymentChannel', state: 'NOT_NEEDED' });
  });
});
