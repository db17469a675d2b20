import { beforeAll, describe, expect, it } from 'vitest';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { bindCard, collectRequest, encrypted, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { boundRequest, stageOfFile } from './stage-of-file.js';
import { agreementOf, anotherChannel, toldAbout } from './support.js';

const { on, service, channel, sql, create, found } = stageOfFile();
beforeAll(async () => {
  const { operator } = service;
  await createPaymentChannel(operator, {
    code: 'OTHERPAY',
    displayName: 'Other',
    gateway: 'sandbox',
    supportedBanks: ['*'],
  });
  await authorizePaymentChannel(operator, { appId: 'test_demo', code: 'OTHERPAY', shareEnabled: true });
});

const replace = (body: object, options = {}) => channel.call('agreements/replace', body, options);
const stateOf = async (orderNo: string) => ({
  order: await found(orderNo),
  agreement: await agreementOf(service.fresh.database, orderNo),
  told: await toldAbout(service.fresh.database, orderNo),
});

/** Creates an A.2 order, and returns it with an agreement that can replace the order's agreement. */
async function shared(more: object = {}) {
  const request = sharedRequest(channel);
  const order = await create(request);
  const newSharedAgreement = sharedAgreement(channel, request.channelUserId, { ...more });
  return { request, order, orderNo: order.orderNo as string, newSharedAgreement };
}

const pending = async () => ({ kind: 'pending' }) as const;

describe('agreements/replace', () => {
  it('0: the order uses the new agreement, the old one is REPLACED, every open period is listed', async () => {
    const { request, order, orderNo, newSharedAgreement } = await shared({ paymentChannelCode: 'OTHERPAY' });
    const old = await agreementOf(service.fresh.database, orderNo);
    const reply = await replace({ orderNo, newSharedAgreement });
    expect(reply.code, reply.text).toBe('0');
    expect(reply.data).toEqual({
      orderNo,
      oldAgreementNo: old.agreement_no,
      newAgreementNo: expect.stringMatching(/^AG\d+$/),
      paymentChannelCode: 'OTHERPAY',
      affectedPayments: Array.from({ length: 11 }, (_, n) => ({
        paymentOrderNo: `${orderNo}${String(n + 2).padStart(4, '0')}`,
        cycleNo: n + 2,
        previousStatus: 'WAIT',
      })),
      retriedNow: [],
    });
    expect(reply.data.newAgreementNo).not.toBe(old.agreement_no);
    expect(await agreementOf(service.fresh.database, orderNo)).toMatchObject({
      agreement_no: reply.data.newAgreementNo,
      status: 'BIND_SUCCESS',
    });
    expect(await found(orderNo)).toEqual(order);
    expect(await toldAbout(service.fresh.database, orderNo)).toEqual(['SUCCESS', 'ACTIVE']);
    expect(
      await sql(
        'select source, payment_channel_code, status from agreements where channel_user_id = $1 order by 1, 2',
        [request.channelUserId],
      ),
    ).toEqual([
      { source: 'SHARED_FROM_CHANNEL', payment_channel_code: 'MOCKPAY', status: 'REPLACED' },
      { source: 'SHARED_FROM_CHANNEL', payment_channel_code: 'OTHERPAY', status: 'BIND_SUCCESS' },
    ]);
    // The replaced agreement is not canceled, because it still belongs to the channel.
    expect(await on.cancelAgreements()).toBe(0);
  });

  it("0: by the channel's number, on the same payment channel, repeatedly", async () => {
    const { request, orderNo, newSharedAgreement } = await shared();
    const { externalOrderNo } = request;
    const first = await replace({ externalOrderNo, newSharedAgreement });
    const second = await replace({ externalOrderNo, newSharedAgreement });
    expect([first.code, second.code]).toEqual(['0', '0']);
    expect(first.data.paymentChannelCode).toBe('MOCKPAY');
    expect(second.data.oldAgreementNo).toBe(first.data.newAgreementNo);
    expect((await agreementOf(service.fresh.database, orderNo)).agreement_no).toBe(second.data.newAgreementNo);
  });

  it.each([[{}], [{ retryFailedNow: true }], [{ retryFailedNow: false }]])('0: with %j', async (more) => {
    const { orderNo, newSharedAgreement } = await shared();
    const reply = await replace({ orderNo, newSharedAgreement, ...more });
    expect([reply.code, reply.data.retriedNow]).toEqual(['0', []]);
  });

  it('0: paid, refunded and failed periods are not listed; open periods are, with their status', async () => {
    const { orderNo, newSharedAgreement } = await shared();
    await sql(
      `insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent, attempts)
       select order_no, n, channel_id, s, '2026-02-28 12:00:00', amount_cent, 1 from orders,
         (values (2, 'SUCCESS'), (3, 'REFUND_PART'), (4, 'REFUND_FULL'), (5, 'FAIL'), (6, 'PROCESSING')) as p(n, s)
       where order_no = $1`,
      [orderNo],
    );
    await sql(`update orders set cycle_no = 6, latest_payment_status = 'PROCESSING' where order_no = $1`, [orderNo]);
    const { data } = await replace({ orderNo, newSharedAgreement });
    expect(
      data.affectedPayments.map((one: { cycleNo: number; previousStatus: string }) => [
        one.cycleNo,
        one.previousStatus,
      ]),
    ).toEqual([[6, 'PROCESSING'], ...[7, 8, 9, 10, 11, 12].map((cycleNo) => [cycleNo, 'WAIT'])]);
  });

  it('0: while the first debit is in flight: the attempt keeps its agreement until it is settled', async () => {
    on.institution.onDebit = pending;
    const { request, orderNo, newSharedAgreement } = await shared();
    const old = await agreementOf(service.fresh.database, orderNo);
    const { data } = await replace({ orderNo, newSharedAgreement });
    expect(data.affectedPayments).toEqual([
      { paymentOrderNo: `${orderNo}0001`, cycleNo: 1, previousStatus: 'PROCESSING' },
    ]);
    on.institution.onQuery = async () => ({ kind: 'not-found' });
    await on.askPending();
    expect(on.institution.debits.map(({ attemptNo, institutionNo }) => [attemptNo, institutionNo])).toEqual([
      [`${orderNo}000101`, request.sharedAgreement.sharedAgreementNo],
      [`${orderNo}000101`, request.sharedAgreement.sharedAgreementNo],
    ]);
    on.institution.reset();
    await on.askPending();
    expect((await found(orderNo)).orderStatus).toBe('ACTIVE');
    expect(await sql('select agreement_id, status from debit_attempts where order_no = $1', [orderNo])).toEqual([
      { agreement_id: old.agreement_id, status: 'SUCCESS' },
    ]);
    expect((await agreementOf(service.fresh.database, orderNo)).agreement_no).toBe(data.newAgreementNo);
  });

  it('0: a later unsubscribe cancels the new agreement, and not the old one', async () => {
    const { orderNo, newSharedAgreement } = await shared();
    const { data } = await replace({ orderNo, newSharedAgreement });
    await channel.call('orders/unsubscribe', { orderNo });
    await on.cancelAgreements();
    expect(on.institution.cancellations).toEqual([
      { appId: 'test_demo', agreementNo: data.newAgreementNo, institutionNo: newSharedAgreement.sharedAgreementNo },
    ]);
    expect(await sql('select status from agreements where agreement_no = $1', [data.oldAgreementNo])).toEqual([
      { status: 'REPLACED' },
    ]);
  });
});

describe('agreements/replace, refused', () => {
  it('400001: another user, 400002: an invalid ciphertext, 403003 and 403004: the payment channel', async () => {
    const { orderNo, newSharedAgreement } = await shared();
    const before = await stateOf(orderNo);
    const other = await anotherChannel(service);
    const cases = [
      [{ channelUserId: 'somebody else' }, '400001', 'newSharedAgreement.channelUserId'],
      [{ bankCardNoEncrypted: encrypted(channel, 'no card') }, '400001', 'newSharedAgreement.bankCardNoEncrypted'],
      [{ bankMobileEncrypted: encrypted(channel, '1') }, '400001', 'newSharedAgreement.bankMobileEncrypted'],
      [{ certificateNoEncrypted: encrypted(channel, '') }, '400001', 'newSharedAgreement.certificateNoEncrypted'],
      [{ realNameEncrypted: encrypted(channel, '') }, '400001', 'newSharedAgreement.realNameEncrypted'],
      [{ bankCardNoEncrypted: '6222020000001234567' }, '400002', 'newSharedAgreement.bankCardNoEncrypted'],
      [{ bankMobileEncrypted: 'svc_aes_v1:' }, '400002', 'newSharedAgreement.bankMobileEncrypted'],
      [{ certificateNoEncrypted: '' }, '400002', 'newSharedAgreement.certificateNoEncrypted'],
      [{ realNameEncrypted: encrypted(other, 'Somebody') }, '400002', 'newSharedAgreement.realNameEncrypted'],
      [{ paymentChannelCode: 'NO_SUCH' }, '403003', ''],
      [{ paymentChannelCode: 'MOCKBANK' }, '403004', ''],
    ] as const;
    for (const [change, code, words] of cases) {
      const reply = await replace({ orderNo, newSharedAgreement: { ...newSharedAgreement, ...change } });
      expect(reply.code, reply.text).toBe(code);
      expect(reply.envelope.message).toContain(words);
      expect(reply.text).not.toContain('6222020000001234567');
    }
    expect(await stateOf(orderNo)).toEqual(before);
  });

  it('410008: an order of A.1, and one of mode B', async () => {
    const user = unique('user');
    const own = await create(boundRequest(await bindCard(channel, user)));
    const collected = await create(collectRequest(channel, { channelUserId: user }));
    for (const { orderNo } of [own, collected]) {
      const newSharedAgreement = sharedAgreement(channel, user);
      expect((await replace({ orderNo, newSharedAgreement })).code).toBe('410008');
    }
    expect(await agreementOf(service.fresh.database, own.orderNo)).toMatchObject({ status: 'BIND_SUCCESS' });
  });

  it('420003: unsubscribed or terminated; 420004: completed', async () => {
    for (const [status, code] of [
      ['UNSUBSCRIBED', '420003'],
      ['TERMINATED', '420003'],
      ['COMPLETED', '420004'],
    ] as const) {
      const { orderNo, newSharedAgreement } = await shared();
      await sql('update orders set status = $2, next_due_at = null where order_no = $1', [orderNo, status]);
      const before = await stateOf(orderNo);
      expect((await replace({ orderNo, newSharedAgreement })).code).toBe(code);
      expect(await stateOf(orderNo)).toEqual(before);
    }
  });

  /** Every row except the last has at least two errors. The row's code is the code that must win. */
  it('the first code in the list of codes wins if several apply', async () => {
    const { order, newSharedAgreement } = await shared();
    const collected = await create(collectRequest(channel));
    const ended = await shared();
    await channel.call('orders/unsubscribe', { orderNo: ended.orderNo });
    const bad = { ...newSharedAgreement, bankCardNoEncrypted: 'x' };
    const foreignUser = { ...newSharedAgreement, channelUserId: 'somebody else' };
    const noChannel = { ...newSharedAgreement, paymentChannelCode: 'NO_SUCH' };
    for (const [orderNo, shared, code] of [
      ['abc', bad, '400002'],
      ['100000000001', bad, '400002'],
      ['100000000001', { ...foreignUser, paymentChannelCode: 'NO_SUCH' }, '420001'],
      [collected.orderNo, { ...foreignUser, paymentChannelCode: 'NO_SUCH' }, '410008'],
      [ended.orderNo, { ...foreignUser, paymentChannelCode: 'NO_SUCH' }, '400001'],
      [ended.orderNo, { ...noChannel, channelUserId: ended.request.channelUserId }, '420003'],
      [order.orderNo, noChannel, '403003'],
    ] as const) {
      expect((await replace({ orderNo, newSharedAgreement: shared })).code).toBe(code);
    }
  });
});
