import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { signedHeaders } from '@perennial/wire/bridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import {
  createPaymentChannel,
  resetGatewayKey,
  updatePaymentChannel,
} from '../../src/operator/provisioning/payment-channels.js';
import { systemClock } from '../../src/platform/clock.js';
import { control, ledgerOf } from '../institution/support.js';
import { type ChannelClient, send } from '../support/channel-client.js';
import { demoChannel, encrypted, mobileOf, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';
import { anotherChannel } from './support.js';

/** The service and the reference institution, over real connections in both directions. */
let service: TestService;
let channel: ChannelClient;
let institution: ReferenceProgram;
let folder: string;
let key: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-bridge-'));
  service = await testService({ clock: systemClock, engine: true });
  service.clock.set(systemClock.now());
  channel = await demoChannel(service);
  const port = await freePort();
  const bridge = await createPaymentChannel(service.operator, {
    code: 'BRIDGE',
    gateway: 'bridge',
    gatewayUrl: `http://127.0.0.1:${port}`,
    displayName: 'Bridge',
    supportedBanks: ['*'],
  });
  key = Buffer.from(bridge.gatewayKey ?? '', 'base64');
  const { appId } = channel.credentials;
  await authorizePaymentChannel(service.operator, { appId, code: 'BRIDGE', shareEnabled: true });
  institution = await startInstitution({
    dataDir: folder,
    port,
    key,
    clock: systemClock,
    control: true,
    noticeUrl: `${service.baseUrl}/gateway/v1/notices/BRIDGE`,
    // A debit that is pending stays so until a test settles it.
    delays: { settleMs: 3_600_000, lateNoticeMs: 50, noticeRetryMs: 20, longestNoticeRetryMs: 100 },
  });
});
afterAll(async () => {
  await institution.stop();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function createWith(tail: string) {
  const channelUserId = unique('user');
  const shared = sharedAgreement(channel, channelUserId, {
    paymentChannelCode: 'BRIDGE',
    sharedAgreementNo: `${unique('shared')}-${tail}`,
  });
  const reply = await channel.call('orders/create', sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
  expect(reply.code, reply.text).toBe('0');
  return reply.data;
}
const query = async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data;
const statusOf = async (orderNo: string) => (await query(orderNo)).orderStatus;
const debitOf = async (orderNo: string) =>
  (await ledgerOf(institution)).debits.find((debit) => debit.attemptNo === `${orderNo}000101`);

describe('a first debit over the bridge', () => {
  it('succeeds, and the institution has debited exactly that', async () => {
    const order = await createWith('8888');
    expect(order).toMatchObject({ orderStatus: 'ACTIVE', totalPaidAmountCent: 1990 });
    expect(await debitOf(order.orderNo)).toMatchObject({ status: 'SUCCESS', debitedCent: 1990, arrivals: 1 });
  });

  it.each(['0001', '0002', '0003'])('is declined (%s): FAIL, terminated, nothing debited', async (tail) => {
    const order = await createWith(tail);
    expect(order).toMatchObject({ orderStatus: 'TERMINATED', paymentRecords: [{ paymentStatus: 'FAIL' }] });
    expect((await debitOf(order.orderNo))?.debitedCent ?? 0).toBe(0);
  });

  it.each([
    ['0004', 'ACTIVE'],
    ['0005', 'TERMINATED'],
    ['0010', 'ACTIVE'],
    ['0012', 'ACTIVE'],
  ])('is pending (%s) until a notice tells: %s', async (tail, status) => {
    const order = await createWith(tail);
    expect(order).toMatchObject({ orderStatus: 'INITIALIZING', paymentRecords: [{ paymentStatus: 'PROCESSING' }] });
    await control(institution, { action: 'settle', attemptNo: `${order.orderNo}000101` });
    await until('the notice', async () => (await statusOf(order.orderNo)) === status);
    const events = await service.fresh.database.query('select from events where order_no = $1', [order.orderNo]);
    expect(events).toHaveLength(2);
  });

  it.each(['0006', '0008', '0015', '0016'])(
    'whose answer is lost or useless (%s): asked about, debited once',
    async (tail) => {
      const order = await createWith(tail);
      expect(order.orderStatus).toBe('INITIALIZING');
      await service.fresh.database.query('update debit_attempts set ask_at = now() where order_no = $1', [
        order.orderNo,
      ]);
      await until('the question', async () => (await statusOf(order.orderNo)) === 'ACTIVE');
      expect(await debitOf(order.orderNo)).toMatchObject({ debitedCent: 1990 });
    },
  );

  it('that never arrived (0007): sent again under the same number', async () => {
    const order = await createWith('0007');
    expect(order.orderStatus).toBe('INITIALIZING');
    await service.fresh.database.query('update debit_attempts set ask_at = now() where order_no = $1', [order.orderNo]);
    await until('the resend', async () => (await statusOf(order.orderNo)) === 'ACTIVE');
    const attempts = await service.fresh.database.query('select from debit_attempts where order_no = $1', [
      order.orderNo,
    ]);
    expect(attempts).toHaveLength(1);
    expect(await debitOf(order.orderNo)).toMatchObject({ debitedCent: 1990 });
  });

  it('over another amount (0014) stays open and is an alert', async () => {
    const order = await createWith('0014');
    expect(order.orderStatus).toBe('INITIALIZING');
    const alerts = await service.fresh.database.query<{ kind: string }>('select kind from alerts where subject = $1', [
      `${order.orderNo}000101`,
    ]);
    expect(alerts).toEqual([{ kind: 'debit-wrong-amount' }]);
  });
});

describe('binding over the bridge', () => {
  it('sends a code, confirms it, debits on the agreement', async () => {
    const channelUserId = unique('user');
    const sent = await channel.call('agreements/bind-sms', {
      channelUserId,
      paymentChannelCode: 'BRIDGE',
      mobileEncrypted: encrypted(channel, mobileOf(channelUserId)),
      bankCardNoEncrypted: encrypted(channel, '6222020000008888'),
      certificateNoEncrypted: encrypted(channel, '110101199001011234'),
      realNameEncrypted: encrypted(channel, '李四'),
      bankMobileEncrypted: encrypted(channel, '13800000002'),
    });
    expect(sent.data, sent.text).toMatchObject({ smsStatus: 'SEND_SUCCESS', paymentChannelCode: 'BRIDGE' });
    const { bindOrderNo } = sent.data;
    const smsCodeEncrypted = encrypted(channel, '123456');
    const bound = await channel.call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted });
    expect(bound.data, bound.text).toMatchObject({ agreementStatus: 'BIND_SUCCESS', bankCardTailNo: '8888' });
    const order = await channel.call('orders/create', {
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: unique('order'),
      productCode: 'TEST_SPU_001',
      bindOrderNo,
    });
    expect(order.data, order.text).toMatchObject({ orderStatus: 'ACTIVE' });
  });
});

describe('news and endings', () => {
  it('an agreement that another channel used first: the institution is told the channel, and may object', async () => {
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', commonNumbers: true });
    const other = await anotherChannel(service);
    const { appId } = other.credentials;
    await authorizePaymentChannel(service.operator, { appId, code: 'BRIDGE', shareEnabled: true });
    const sharedAgreementNo = `${unique('shared')}-0025`;
    const share = (by: ChannelClient) => {
      const channelUserId = unique('user');
      const shared = sharedAgreement(by, channelUserId, { paymentChannelCode: 'BRIDGE', sharedAgreementNo });
      return by.call('orders/create', sharedRequest(by, { channelUserId, sharedAgreement: shared }));
    };
    const [mine, theirs, again] = [await share(channel), await share(other), await share(channel)];
    expect([mine, theirs, again].map(({ data }) => data.orderStatus)).toEqual(['ACTIVE', 'TERMINATED', 'ACTIVE']);
    expect(await debitOf(mine.data.orderNo)).toMatchObject({ appId: 'test_demo', debitedCent: 1990 });
    expect(await debitOf(theirs.data.orderNo)).toMatchObject({ appId, debitedCent: 0 });
    await updatePaymentChannel(service.operator, { code: 'BRIDGE', commonNumbers: false });
  });

  it('an agreement that the institution ends: its order is unsubscribed, with the event', async () => {
    const order = await createWith('0021');
    await until('the notice', async () => (await statusOf(order.orderNo)) === 'UNSUBSCRIBED');
    const rows = await service.fresh.database.query(
      `select o.unsubscribe_source, a.status from orders o join agreements a using (agreement_id) where o.order_no = $1`,
      [order.orderNo],
    );
    expect(rows).toEqual([{ unsubscribe_source: 'AGREEMENT_INVALID', status: 'CANCELED' }]);
    const events = await service.fresh.database.query<{ data: string }>(
      `select data from events where order_no = $1 and event_type = 'order.status.changed' order by event_no`,
      [order.orderNo],
    );
    expect(events.map(({ data }) => JSON.parse(data).orderStatus)).toEqual(['ACTIVE', 'UNSUBSCRIBED']);
  });

  it('an unsubscribe cancels the agreement at the institution, in the background', async () => {
    const order = await createWith('8888');
    expect((await channel.call('orders/unsubscribe', { orderNo: order.orderNo })).code).toBe('0');
    const [row] = await service.fresh.database.query<{ agreement_id: number }>(
      'select agreement_id from orders where order_no = $1',
      [order.orderNo],
    );
    await until('the cancellation', async () => {
      const [state] = await service.fresh.database.query<{ open: boolean }>(
        'select cancel_at is not null as open from agreements where agreement_id = $1',
        [row?.agreement_id],
      );
      return state?.open === false;
    });
    expect((await ledgerOf(institution)).canceledAgreements.length).toBeGreaterThan(0);
  });
});

describe('the notice endpoint', () => {
  const notice = (code: string, body: object, signedWith: Uint8Array, more: Record<string, string> = {}) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const at = `/gateway/v1/notices/${code}`;
    const headers = signedHeaders(
      { path: at, body: bytes, now: systemClock.now(), requestId: randomUUID() },
      signedWith,
    );
    return send(service.baseUrl, 'POST', at, { 'content-type': 'application/json', ...headers, ...more }, bytes);
  };
  const success = (attemptNo: string) => ({
    kind: 'DEBIT',
    attemptNo,
    status: 'SUCCESS',
    amountCent: 1990,
    paidAt: systemClock.now(),
    institutionRef: 'x',
  });

  it('401: a wrong key, no signature, a payment channel that does not exist or has no bridge', async () => {
    const body = success('100000000001000101');
    for (const reply of [
      await notice('BRIDGE', body, Buffer.alloc(32, 1)),
      await notice('NO_SUCH', body, key),
      await notice('MOCKPAY', body, key),
      await send(
        service.baseUrl,
        'POST',
        '/gateway/v1/notices/BRIDGE',
        { 'content-type': 'application/json' },
        Buffer.from('{}'),
      ),
    ]) {
      expect(reply.status).toBe(401);
      expect(reply.envelope).toMatchObject({ code: '401002', data: null, success: false });
    }
  });

  it('a key that was reset ends at once', async () => {
    const other = await createPaymentChannel(service.operator, {
      code: 'RESET',
      gateway: 'bridge',
      gatewayUrl: 'http://127.0.0.1:9',
      displayName: 'Reset',
      supportedBanks: ['*'],
    });
    const former = Buffer.from(other.gatewayKey ?? '', 'base64');
    const { gatewayKey } = await resetGatewayKey(service.operator, { code: 'RESET' });
    const body = success('100000000001000101');
    expect((await notice('RESET', body, former)).status).toBe(401);
    expect((await notice('RESET', body, Buffer.from(gatewayKey ?? '', 'base64'))).status).toBe(200);
  });
});
