import { beforeEach, describe, expect, it } from 'vitest';
import { updatePaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { bindCard, collectRequest, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { boundRequest, stageOfFile } from './stage-of-file.js';
import { agreementOf, alerts, anotherChannel } from './support.js';

/** Tests what happens to an agreement when an order on it ends. */

const { on, service, channel, sql, create, found, told } = stageOfFile();
beforeEach(async () => {
  await on.cancelAgreements();
  on.institution.reset();
});

const unsubscribe = (body: object, by = channel) => by.call('orders/unsubscribe', body);

describe('orders/unsubscribe and the agreement', () => {
  it('CANCELED with the order, and canceled at the institution by the next job, once', async () => {
    const request = sharedRequest(channel);
    const { orderNo } = await create(request);
    await unsubscribe({ orderNo });
    const agreement = await agreementOf(service.fresh.database, orderNo);
    expect(agreement).toMatchObject({ status: 'CANCELED', asked: true });
    expect(on.institution.cancellations).toEqual([]);
    expect(await on.cancelAgreements()).toBe(1);
    expect(on.institution.cancellations).toEqual([
      {
        appId: 'test_demo',
        agreementNo: agreement.agreement_no,
        institutionNo: request.sharedAgreement.sharedAgreementNo,
      },
    ]);
    // An order in mode B has no agreement to cancel.
    await unsubscribe({ orderNo: (await create(collectRequest(channel))).orderNo });
    expect(await on.cancelAgreements()).toBe(0);
    const bankData = await channel.call('agreements/user-data', { channelUserId: request.channelUserId });
    expect(bankData.data.bankDataList).toEqual([expect.objectContaining({ agreementStatus: 'CANCELED' })]);
  });

  it('stays while another order uses it, and ends with the last', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    const first = await create(boundRequest(bindOrderNo));
    const second = await create(boundRequest(bindOrderNo));
    await unsubscribe({ orderNo: first.orderNo });
    expect(await agreementOf(service.fresh.database, first.orderNo)).toMatchObject({
      status: 'BIND_SUCCESS',
      asked: false,
    });
    expect(await on.cancelAgreements()).toBe(0);
    await unsubscribe({ orderNo: second.orderNo });
    expect(await on.cancelAgreements()).toBe(1);
    expect(on.institution.cancellations).toEqual([
      { appId: 'test_demo', agreementNo: `AG${bindOrderNo}`, institutionNo: `inst-${bindOrderNo}` },
    ]);
    expect((await channel.call('orders/create', boundRequest(bindOrderNo))).code).toBe('410002');
  });

  it('stays while the first debit of another order is in flight', async () => {
    const bindOrderNo = await bindCard(channel, unique('user'));
    const first = await create(boundRequest(bindOrderNo));
    on.institution.onDebit = async () => ({ kind: 'pending' });
    await create(boundRequest(bindOrderNo));
    await unsubscribe({ orderNo: first.orderNo });
    expect(await agreementOf(service.fresh.database, first.orderNo)).toMatchObject({ status: 'BIND_SUCCESS' });
    await on.askPending();
  });

  it.each([
    ['refuses', async () => ({ kind: 'refused', reason: 'not today' }) as const, 'not today', 0],
    ['gives no outcome', async () => ({ kind: 'unknown' }) as const, 'the institution did not answer', 1],
    [
      'breaks',
      async () => {
        throw new Error('the line is dead');
      },
      'the institution did not answer',
      1,
    ],
  ])('an institution that %s raises an alert and changes no order', async (_what, answer, detail, askedAgain) => {
    const { orderNo } = await create(sharedRequest(channel));
    const { data } = await unsubscribe({ orderNo });
    const { agreement_no: subject } = await agreementOf(service.fresh.database, orderNo);
    on.institution.onCancel = answer;
    await on.cancelAgreements();
    expect(await alerts(service.fresh.database)).toContainEqual({ kind: 'agreement-cancel-failed', subject, detail });
    expect(await found(orderNo)).toEqual(data);
    expect((await told(orderNo)).slice(2)).toEqual(['UNSUBSCRIBED', 'CANCELED']);
    on.institution.onCancel = async () => ({ kind: 'canceled' });
    expect(await on.cancelAgreements()).toBe(askedAgain);
    expect(await on.cancelAgreements()).toBe(0);
  });
});

describe('orders that share one number at the institution', () => {
  const rowsOf = (channelUserId: string) =>
    sql<{ status: string; asked: boolean }>(
      `select a.status, a.cancel_at is not null as asked from agreements a where a.channel_user_id = $1 order by 1, 2`,
      [channelUserId],
    );

  it('the number is canceled there only when the last order ends', async () => {
    const channelUserId = unique('user');
    const shared = sharedAgreement(channel, channelUserId);
    const one = await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    const two = await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    expect((await unsubscribe({ orderNo: one.orderNo })).code).toBe('0');
    expect(await rowsOf(channelUserId)).toEqual(Array(2).fill({ status: 'BIND_SUCCESS', asked: false }));
    expect((await unsubscribe({ orderNo: two.orderNo })).code).toBe('0');
    expect(await rowsOf(channelUserId)).toEqual([
      { status: 'CANCELED', asked: false },
      { status: 'CANCELED', asked: true },
    ]);
  });

  it('a new order on the number before the job runs: the number is not canceled there', async () => {
    const channelUserId = unique('user');
    const shared = sharedAgreement(channel, channelUserId);
    const left = await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    await unsubscribe({ orderNo: left.orderNo });
    const back = await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    expect(await on.cancelAgreements()).toBe(0);
    expect(on.institution.cancellations).toEqual([]);
    await unsubscribe({ orderNo: back.orderNo });
    expect(await on.cancelAgreements()).toBe(1);
  });

  it('a new order on the number while the institution was unreachable: the cancellation is not retried', async () => {
    const channelUserId = unique('user');
    const shared = sharedAgreement(channel, channelUserId);
    const { orderNo } = await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    await unsubscribe({ orderNo });
    on.institution.onCancel = async () => ({ kind: 'unknown' });
    expect(await on.cancelAgreements()).toBe(1);
    await create(sharedRequest(channel, { channelUserId, sharedAgreement: shared }));
    expect(await on.cancelAgreements()).toBe(0);
    expect(on.institution.cancellations).toHaveLength(1);
  });

  it('the binding of another channel is unaffected, here and at the institution, if numbers are common', async () => {
    await updatePaymentChannel(service.operator, { code: 'MOCKPAY', commonNumbers: true });
    const other = await anotherChannel(service);
    const owner = unique('user');
    const bindOrderNo = await bindCard(channel, owner);
    const stranger = unique('user');
    const shared = sharedAgreement(other, stranger, { sharedAgreementNo: `inst-${bindOrderNo}` });
    const foreign = await create(sharedRequest(other, { channelUserId: stranger, sharedAgreement: shared }), other);
    await unsubscribe({ orderNo: foreign.orderNo }, other);
    expect(await rowsOf(stranger)).toEqual([{ status: 'CANCELED', asked: false }]);
    expect(await rowsOf(owner)).toEqual([{ status: 'BIND_SUCCESS', asked: false }]);
    const { orderNo } = await create(boundRequest(bindOrderNo));
    await unsubscribe({ orderNo });
    expect(await on.cancelAgreements()).toBe(1);
  });
});
