import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import { createGatewayRegistry } from '../../src/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { withdrawPaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { createKeyedHasher } from '../../src/platform/secrets/keyed-hasher.js';
import { createAgreementEnder } from '../../src/subscriptions/steps/ending/end-by-institution.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { PRODUCT } from '../operator/support.js';
import type { ChannelClient } from '../support/channel-client.js';
import { bindCard, demoChannel, encrypted, mobileOf, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { IN_THE_CLEAR } from '../support/envelope.js';
import { type TestService, testService } from '../support/service.js';
import { agreementOf, anotherChannel } from './support.js';

let service: TestService;
let channel: ChannelClient;
beforeAll(async () => {
  service = await testService();
  channel = await demoChannel(service);
  await createProduct(service.operator, { ...PRODUCT, productCode: 'NOT_YOURS' });
  await createProduct(service.operator, {
    ...PRODUCT,
    productCode: 'COLLECT_ONLY',
    settlementModes: ['CHANNEL_COLLECT'],
  });
  await authorizeProduct(service.operator, { appId: 'test_demo', productCode: 'COLLECT_ONLY' });
});
afterAll(() => service.close());

const create = (body: object, options = {}) => channel.call('orders/create', body, options);
const query = async (orderNo: string) => (await channel.call('orders/query', { orderNo })).data;
const eventsOf = async (orderNo: string) =>
  (
    await service.fresh.database.query<{ data: string }>(
      'select data from events where order_no = $1 order by event_no',
      [orderNo],
    )
  ).map(({ data }) => JSON.parse(data).paymentStatus ?? JSON.parse(data).orderStatus);

/** One turn of the job that the service runs each second. */
async function askPending(): Promise<void> {
  const { database } = service.fresh;
  await database.query('update debit_attempts set ask_at = now() where ask_at is not null');
  await askAboutPendingDebits({
    database,
    clock: service.clock,
    channels: createChannelRegistry(database, service.vault),
    gateways: createGatewayRegistry(database, {
      sandbox: () => createSandboxGateway(service.clock),
      bridge: () => {
        throw new Error('no bridge here');
      },
    }),
    settle: createBatchSettler(database, service.clock),
    log: pino({ level: 'silent' }),
  });
}

describe.each([
  ['A.2', async (more: object) => sharedRequest(channel, { ...more })],
  [
    'A.1',
    async (more: object) => ({
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo: unique('order'),
      productCode: 'TEST_SPU_001',
      bindOrderNo: await bindCard(channel, unique('user')),
      ...more,
    }),
  ],
])('orders/create in mode %s, by the sandbox triggers', (_mode, requestWith) => {
  const ending = async (suffix: string) => requestWith({ externalOrderNo: unique('order') + suffix });

  it('SUCCESS: active, paid, benefits, link, two events', async () => {
    const reply = await create(await ending(''));
    expect(reply.code, reply.text).toBe('0');
    expect(reply.data).toMatchObject({
      orderStatus: 'ACTIVE',
      orderSuccessTime: '2026-01-31 12:00:00',
      totalPaidAmountCent: 1990,
      nextPayTime: '2026-02-28 12:00:00',
      redeemUrl: expect.stringContaining('/redeem?'),
    });
    expect(reply.data.paymentRecords).toHaveLength(12);
    expect(reply.data.paymentRecords[0]).toMatchObject({ paymentStatus: 'SUCCESS', paidAt: '2026-01-31 12:00:00' });
    expect(await eventsOf(reply.data.orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await query(reply.data.orderNo)).toEqual(reply.data);
  });

  it.each(['_FAIL', '_FAIL_RETRY'])('%s: FAIL, terminated, nothing to redeem, two events', async (suffix) => {
    const { data } = await create(await ending(suffix));
    expect(data).toMatchObject({
      orderStatus: 'TERMINATED',
      orderSuccessTime: null,
      nextPayTime: null,
      redeemUrl: null,
    });
    expect(data.paymentRecords).toEqual([expect.objectContaining({ paymentStatus: 'FAIL', paidAt: null })]);
    expect(data.totalPaidAmountCent).toBe(0);
    expect(await eventsOf(data.orderNo)).toEqual(['FAIL', 'TERMINATED']);
    expect(await service.fresh.database.query('select from benefits where order_no = $1', [data.orderNo])).toEqual([]);
  });

  it('_PENDING: PROCESSING now, SUCCESS thirty seconds later', async () => {
    const { data } = await create(await ending('_PENDING'));
    expect(data).toMatchObject({ orderStatus: 'INITIALIZING', nextPayTime: null, redeemUrl: null });
    expect(data.paymentRecords).toEqual([expect.objectContaining({ paymentStatus: 'PROCESSING', paidAt: null })]);
    expect(await eventsOf(data.orderNo)).toEqual([]);
    const before = service.clock.now();
    service.clock.advance(29_999);
    await askPending();
    expect((await query(data.orderNo)).orderStatus).toBe('INITIALIZING');
    service.clock.advance(1);
    await askPending();
    const after = await query(data.orderNo);
    expect(after).toMatchObject({ orderStatus: 'ACTIVE', redeemUrl: expect.any(String) });
    expect(after.paymentRecords[0]).toMatchObject({ paymentStatus: 'SUCCESS', paidAt: '2026-01-31 12:00:30' });
    expect(await eventsOf(data.orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    service.clock.set(before);
  });

  it('a resend with the same key gets the first answer, also after the debit has come through', async () => {
    const raw = JSON.stringify(await ending('_PENDING'));
    const idempotencyKey = unique('key');
    const first = await create({}, { raw, idempotencyKey });
    expect(first.data.orderStatus).toBe('INITIALIZING');
    const before = service.clock.now();
    service.clock.advance(31_000);
    await askPending();
    const again = await create({}, { raw, idempotencyKey });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.data).toEqual(first.data);
    service.clock.set(before);
  });
});

describe('an agreement that the institution ends while the first debit is on the way', () => {
  it('the debit counts, and the order is unsubscribed with it', async () => {
    const request = sharedRequest(channel, { externalOrderNo: `${unique('order')}_PENDING` });
    const { data } = await create(request);
    const { database } = service.fresh;
    const institutionNumbers = createKeyedHasher(database, service.vault, 'institution numbers');
    const end = createAgreementEnder({ database, institutionNumbers, clock: service.clock });
    await end('MOCKPAY', request.sharedAgreement.sharedAgreementNo, 'closed by the bank');
    expect((await query(data.orderNo)).orderStatus).toBe('INITIALIZING');
    const before = service.clock.now();
    service.clock.advance(30_000);
    await askPending();
    const after = await query(data.orderNo);
    expect(after).toMatchObject({ orderStatus: 'UNSUBSCRIBED', totalPaidAmountCent: 1990, redeemUrl: null });
    expect(after.paymentRecords.map((record: { paymentStatus: string }) => record.paymentStatus)).toEqual([
      'SUCCESS',
      ...Array(11).fill('CANCELED'),
    ]);
    expect(await eventsOf(data.orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
    service.clock.set(before);
  });

  it('a number that nobody has is an alert', async () => {
    const { database } = service.fresh;
    const institutionNumbers = createKeyedHasher(database, service.vault, 'institution numbers');
    await createAgreementEnder({ database, institutionNumbers, clock: service.clock })('MOCKPAY', 'nobody', 'x');
    const alerts = await database.query(`select from alerts where kind = 'notice-for-unknown-agreement'`);
    expect(alerts).toHaveLength(1);
  });
});

describe('orders/create in mode A, refused', () => {
  const bound = async () => ({
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: unique('order'),
    productCode: 'TEST_SPU_001',
  });

  it('400001: neither or both of bindOrderNo and sharedAgreement', async () => {
    expect((await create(await bound())).code).toBe('400001');
    expect((await create({ ...sharedRequest(channel), bindOrderNo: '1' })).code).toBe('400001');
  });

  it('410001: a binding of another channel, and an agreement that is no binding', async () => {
    const other = await anotherChannel(service);
    const bindOrderNo = await bindCard(other, unique('user'));
    expect((await create({ ...(await bound()), bindOrderNo })).code).toBe('410001');
    const { orderNo } = (await create(sharedRequest(channel))).data;
    const shared = await agreementOf(service.fresh.database, orderNo);
    for (const number of [String(shared.agreement_id), shared.agreement_no]) {
      expect((await create({ ...(await bound()), bindOrderNo: number })).code).toBe('410001');
    }
  });

  it('403003: a binding on a payment channel that was withdrawn since', async () => {
    const other = await anotherChannel(service);
    const { appId } = other.credentials;
    const bindOrderNo = await bindCard(other, unique('user'));
    await withdrawPaymentChannel(service.operator, { appId, code: 'MOCKPAY' });
    expect((await other.call('orders/create', { ...(await bound()), bindOrderNo })).code).toBe('403003');
  });

  it.each([
    ['420005', { productCode: 'NO_SUCH' }],
    ['420006', { productCode: 'NOT_YOURS' }],
    ['420007', { totalCycles: 11 }],
    ['420009', { productCode: 'COLLECT_ONLY' }],
  ])('%s, and nothing is debited or kept', async (code, change) => {
    const user = unique('user');
    expect((await create(sharedRequest(channel, { channelUserId: user, ...change }))).code).toBe(code);
    for (const table of ['agreements', 'orders', 'channel_users']) {
      expect(await service.fresh.database.query(`select from ${table} where channel_user_id = $1`, [user])).toEqual([]);
    }
  });

  it('420002, 410010, 410011: and no agreement is left of it', async () => {
    const known = sharedRequest(channel);
    expect((await create(known)).code).toBe('0');
    const user = unique('user');
    const mine = (more: object) => create(sharedRequest(channel, { channelUserId: user, ...more }));
    expect((await mine({ externalOrderNo: known.externalOrderNo })).code).toBe('420002');
    expect((await mine({ mobileEncrypted: encrypted(channel, mobileOf(known.channelUserId)) })).code).toBe('410011');
    const { channelUserId } = known;
    const mobileEncrypted = encrypted(channel, '19700000000');
    expect((await create(sharedRequest(channel, { channelUserId, mobileEncrypted }))).code).toBe('410010');
    const rows = await service.fresh.database.query('select from agreements where channel_user_id = any($1)', [
      [user, channelUserId],
    ]);
    expect(rows).toHaveLength(1);
  });

  it('0: what is kept of a shared agreement; channelAgreementRef is not', async () => {
    const request = sharedRequest(channel, { channelAgreementRef: 'of mode B' });
    const { orderNo } = (await create(request)).data;
    expect(
      await service.fresh.database.query(
        `select a.source, a.status, a.payment_channel_code, a.card_tail, a.agreement_no = 'AG' || a.agreement_id as named,
           o.shared, o.channel_agreement_ref as ref
         from orders o join agreements a using (agreement_id) where o.order_no = $1`,
        [orderNo],
      ),
    ).toEqual([
      {
        source: 'SHARED_FROM_CHANNEL',
        status: 'BIND_SUCCESS',
        payment_channel_code: 'MOCKPAY',
        card_tail: '4567',
        named: true,
        shared: true,
        ref: null,
      },
    ]);
  });

  it('410001: a binding that is unknown', async () => {
    for (const bindOrderNo of ['1', 'x', '999999999999']) {
      expect((await create({ ...(await bound()), bindOrderNo })).code).toBe('410001');
    }
  });

  it('410002: a binding that is not finished', async () => {
    const user = unique('user');
    const sent = await channel.call('agreements/bind-sms', {
      channelUserId: user,
      mobileEncrypted: encrypted(channel, mobileOf(user)),
      bankCardNoEncrypted: encrypted(channel, '6222020000001234567'),
      certificateNoEncrypted: encrypted(channel, '110101199001011234'),
      realNameEncrypted: encrypted(channel, 'Somebody'),
      bankMobileEncrypted: encrypted(channel, '13800000001'),
    });
    expect((await create({ ...(await bound()), bindOrderNo: sent.data.bindOrderNo })).code).toBe('410002');
  });

  it("400001: a channelUserId that is not the agreement's; 410010: a mobile that is not the user's", async () => {
    const user = unique('user');
    const bindOrderNo = await bindCard(channel, user);
    expect((await create({ ...(await bound()), bindOrderNo, channelUserId: 'somebody else' })).code).toBe('400001');
    const mobileEncrypted = encrypted(channel, '19912345678');
    expect((await create({ ...(await bound()), bindOrderNo, mobileEncrypted })).code).toBe('410010');
    expect((await create({ ...(await bound()), bindOrderNo, channelUserId: user })).code).toBe('0');
  });

  /** Each row is wrong in one thing less than the row above it. */
  it('of several codes the earlier in the list of codes is the answer', async () => {
    const user = unique('user');
    const bindOrderNo = await bindCard(channel, user);
    const foreign = { channelUserId: 'somebody else' };
    const taken = { externalOrderNo: (await create(sharedRequest(channel))).data.externalOrderNo };
    for (const [change, code] of [
      [{ ...foreign, ...taken, productCode: 'NO_SUCH', mobileEncrypted: 'x' }, '400002'],
      [{ ...foreign, ...taken, productCode: 'NO_SUCH' }, '400001'],
      [{ ...foreign, productCode: 'NO_SUCH' }, '400001'],
      [{ ...foreign, totalCycles: 11 }, '400001'],
      [{ ...taken, productCode: 'NO_SUCH', bindOrderNo: '1' }, '420002'],
      [{ productCode: 'NO_SUCH', bindOrderNo: '1' }, '420005'],
      [{ totalCycles: 11, bindOrderNo: '1' }, '420007'],
      [{ bindOrderNo: '1', ...foreign }, '410001'],
    ] as const) {
      const reply = await create({ ...(await bound()), bindOrderNo, ...change });
      expect([change, reply.code]).toEqual([change, code]);
    }
  });

  it.each([
    'mobileEncrypted',
    'bankCardNoEncrypted',
    'bankMobileEncrypted',
    'certificateNoEncrypted',
    'realNameEncrypted',
  ])('400002: %s cannot be decrypted, and is named', async (field) => {
    const request = sharedRequest(channel);
    const inside = field !== 'mobileEncrypted';
    const reply = await create(
      inside
        ? { ...request, sharedAgreement: { ...request.sharedAgreement, [field]: '6222020000001234567' } }
        : { ...request, [field]: '6222020000001234567' },
    );
    expect(reply.code).toBe('400002');
    const name = `${inside ? 'sharedAgreement.' : ''}${field}`;
    expect(reply.envelope.message).toBe(`${name} cannot be decrypted${IN_THE_CLEAR}`);
  });

  it.each([
    ['a number', 7],
    ['null', null],
    ['an object', {}],
    ['a text that is too long', 'x'.repeat(1025)],
  ])('0: channelAgreementRef is ignored, also as %s', async (_what, ref) => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    expect((await create({ ...(await bound()), bindOrderNo, channelAgreementRef: ref })).code).toBe('0');
    expect((await create(sharedRequest(channel, { channelAgreementRef: ref }))).code).toBe('0');
  });

  it('0 or 410002: an unsubscribe of the only order on the binding at the same time; never an order without agreement', async () => {
    for (let round = 0; round < 12; round += 1) {
      const bindOrderNo = await bindCard(channel, unique('user'));
      const first = await create({ ...(await bound()), bindOrderNo });
      const [ended, second] = await Promise.all([
        channel.call('orders/unsubscribe', { orderNo: first.data.orderNo }),
        create({ ...(await bound()), bindOrderNo }),
      ]);
      expect(ended.code).toBe('0');
      const [agreement] = await service.fresh.database.query<{ status: string }>(
        'select status from agreements where agreement_id = $1',
        [bindOrderNo],
      );
      expect([second.code, agreement?.status]).toEqual(
        second.code === '0' ? ['0', 'BIND_SUCCESS'] : ['410002', 'CANCELED'],
      );
    }
  });

  it('0: one binding serves several orders', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    expect((await create({ ...(await bound()), bindOrderNo })).code).toBe('0');
    expect((await create({ ...(await bound()), bindOrderNo, productCode: 'TEST_SPU_DAILY_7' })).code).toBe('0');
  });

  it('403004: a payment channel that is not authorized or does not share; 400001: another user inside', async () => {
    const user = unique('user');
    const withShared = (more: object) =>
      create(
        sharedRequest(channel, { channelUserId: user, sharedAgreement: sharedAgreement(channel, user, { ...more }) }),
      );
    expect((await withShared({ paymentChannelCode: 'MOCKBANK' })).code).toBe('403004');
    expect((await withShared({ paymentChannelCode: 'NO_SUCH' })).code).toBe('403004');
    expect((await withShared({ channelUserId: 'somebody else' })).code).toBe('400001');
    expect((await withShared({ bankCardNoEncrypted: 'plain' })).code).toBe('400002');
  });
});
