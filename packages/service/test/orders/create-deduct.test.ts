import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { PRODUCT } from '../operator/support.js';
import { bindCard, encrypted, mobileOf, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { IN_THE_CLEAR } from '../support/envelope.js';
import { boundRequest, stageOfFile } from './stage-of-file.js';
import { agreementOf, anotherChannel } from './support.js';

const { on, service, channel, sql, found, told } = stageOfFile();
beforeEach(() => {
  const sandbox = createSandboxGateway(service.clock);
  on.institution.onDebit = sandbox.debit;
  on.institution.onQuery = sandbox.queryDebit;
});
beforeAll(async () => {
  await createProduct(service.operator, { ...PRODUCT, productCode: 'NOT_YOURS' });
  await createProduct(service.operator, {
    ...PRODUCT,
    productCode: 'COLLECT_ONLY',
    settlementModes: ['CHANNEL_COLLECT'],
  });
  await authorizeProduct(service.operator, { appId: 'test_demo', productCode: 'COLLECT_ONLY' });
});

const create = (body: object) => channel.call('orders/create', body);

describe.each([
  ['A.2', async (more: object) => sharedRequest(channel, { ...more })],
  ['A.1', async (more: object) => boundRequest(await bindCard(channel, unique('user')), more)],
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
    expect(await told(reply.data.orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(await found(reply.data.orderNo)).toEqual(reply.data);
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
    expect(await told(data.orderNo)).toEqual(['FAIL', 'TERMINATED']);
    expect(await sql('select from benefits where order_no = $1', [data.orderNo])).toEqual([]);
  });

  it('_PENDING: PROCESSING now, SUCCESS thirty seconds later', async () => {
    const { data } = await create(await ending('_PENDING'));
    expect(data).toMatchObject({ orderStatus: 'INITIALIZING', nextPayTime: null, redeemUrl: null });
    expect(data.paymentRecords).toEqual([expect.objectContaining({ paymentStatus: 'PROCESSING', paidAt: null })]);
    expect(await told(data.orderNo)).toEqual([]);
    const before = service.clock.now();
    service.clock.advance(29_999);
    await on.askPending();
    expect((await found(data.orderNo)).orderStatus).toBe('INITIALIZING');
    service.clock.advance(1);
    await on.askPending();
    const after = await found(data.orderNo);
    expect(after).toMatchObject({ orderStatus: 'ACTIVE', redeemUrl: expect.any(String) });
    expect(after.paymentRecords[0]).toMatchObject({ paymentStatus: 'SUCCESS', paidAt: '2026-01-31 12:00:30' });
    expect(await told(data.orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    service.clock.set(before);
  });
});

describe('orders/create in mode A, refused', () => {
  it('410001: a binding of another channel, and an agreement that is not a binding', async () => {
    const other = await anotherChannel(service);
    const bindOrderNo = await bindCard(other, unique('user'));
    expect((await create(boundRequest(bindOrderNo))).code).toBe('410001');
    const { orderNo } = (await create(sharedRequest(channel))).data;
    const shared = await agreementOf(service.fresh.database, orderNo);
    for (const number of [String(shared.agreement_id), shared.agreement_no]) {
      expect((await create(boundRequest(number))).code).toBe('410001');
    }
  });

  it.each([
    ['420005', { productCode: 'NO_SUCH' }],
    ['420006', { productCode: 'NOT_YOURS' }],
    ['420007', { totalCycles: 11 }],
    ['420009', { productCode: 'COLLECT_ONLY' }],
  ])('%s, and nothing is debited or stored', async (code, change) => {
    const user = unique('user');
    expect((await create(sharedRequest(channel, { channelUserId: user, ...change }))).code).toBe(code);
    for (const table of ['agreements', 'orders', 'channel_users']) {
      expect(await sql(`select from ${table} where channel_user_id = $1`, [user])).toEqual([]);
    }
  });

  it('420002, 410010, 410011: and the agreement is not stored', async () => {
    const known = sharedRequest(channel);
    expect((await create(known)).code).toBe('0');
    const user = unique('user');
    const mine = (more: object) => create(sharedRequest(channel, { channelUserId: user, ...more }));
    expect((await mine({ externalOrderNo: known.externalOrderNo })).code).toBe('420002');
    expect((await mine({ mobileEncrypted: encrypted(channel, mobileOf(known.channelUserId)) })).code).toBe('410011');
    const { channelUserId } = known;
    const mobileEncrypted = encrypted(channel, '19700000000');
    expect((await create(sharedRequest(channel, { channelUserId, mobileEncrypted }))).code).toBe('410010');
    const rows = await sql('select from agreements where channel_user_id = any($1)', [[user, channelUserId]]);
    expect(rows).toHaveLength(1);
  });

  it("400001: a channelUserId that is not the agreement's; 410010: a mobile that is not the user's", async () => {
    const user = unique('user');
    const bindOrderNo = await bindCard(channel, user);
    expect((await create(boundRequest(bindOrderNo, { channelUserId: 'somebody else' }))).code).toBe('400001');
    const mobileEncrypted = encrypted(channel, '19912345678');
    expect((await create(boundRequest(bindOrderNo, { mobileEncrypted }))).code).toBe('410010');
    expect((await create(boundRequest(bindOrderNo, { channelUserId: user }))).code).toBe('0');
  });

  /** Each row has several errors. The row's code is the code that must win. */
  it('the first code in the list of codes wins if several apply', async () => {
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
      const reply = await create(boundRequest(bindOrderNo, change));
      expect([change, reply.code]).toEqual([change, code]);
    }
  });

  it.each([
    'mobileEncrypted',
    'bankCardNoEncrypted',
    'bankMobileEncrypted',
    'certificateNoEncrypted',
    'realNameEncrypted',
  ])('400002: %s cannot be decrypted, and the message names it', async (field) => {
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
    ['a text', 'of mode B'],
    ['a number', 7],
    ['null', null],
    ['an object', {}],
    ['a text that is too long', 'x'.repeat(1025)],
  ])('0: channelAgreementRef is ignored: %s', async (_what, ref) => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    expect((await create(boundRequest(bindOrderNo, { channelAgreementRef: ref }))).code).toBe('0');
    const { orderNo } = (await create(sharedRequest(channel, { channelAgreementRef: ref }))).data;
    expect(await sql('select channel_agreement_ref as ref from orders where order_no = $1', [orderNo])).toEqual([
      { ref: null },
    ]);
  });

  it('0 or 410002: concurrent unsubscribe of the only order on the binding; never an order without agreement', async () => {
    for (let round = 0; round < 12; round += 1) {
      const bindOrderNo = await bindCard(channel, unique('user'));
      const first = await create(boundRequest(bindOrderNo));
      const [ended, second] = await Promise.all([
        channel.call('orders/unsubscribe', { orderNo: first.data.orderNo }),
        create(boundRequest(bindOrderNo)),
      ]);
      expect(ended.code).toBe('0');
      const [agreement] = await sql<{ status: string }>('select status from agreements where agreement_id = $1', [
        bindOrderNo,
      ]);
      expect([second.code, agreement?.status]).toEqual(
        second.code === '0' ? ['0', 'BIND_SUCCESS'] : ['410002', 'CANCELED'],
      );
    }
  });

  it('403003: a binding whose payment channel is no longer authorized', async () => {
    const { operator } = service;
    const mockPay = { appId: 'test_demo', code: 'MOCKPAY' };
    const bindOrderNo = await bindCard(channel, unique('user'));
    await withdrawPaymentChannel(operator, mockPay);
    expect((await create(boundRequest(bindOrderNo))).code).toBe('403003');
    await authorizePaymentChannel(operator, { ...mockPay, isDefault: true, shareEnabled: true });
  });

  it('403004: a payment channel that is not authorized or does not share', async () => {
    const user = unique('user');
    const withShared = (more: object) =>
      create(
        sharedRequest(channel, { channelUserId: user, sharedAgreement: sharedAgreement(channel, user, { ...more }) }),
      );
    expect((await withShared({ paymentChannelCode: 'MOCKBANK' })).code).toBe('403004');
    expect((await withShared({ paymentChannelCode: 'NO_SUCH' })).code).toBe('403004');
  });
});
