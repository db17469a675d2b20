import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { unsubscribeOrder } from '../../src/operator/orders/orders.js';
import { showOrder } from '../../src/operator/orders/show-order.js';
import { agreementOf, anotherChannel } from '../orders/support.js';
import { periodNo, type RefundStage, refundStage } from '../refunds/support.js';
import { collectRequest, sharedAgreement, unique } from '../support/demo.js';

let on: RefundStage;
beforeAll(async () => {
  on = await refundStage();
});
afterAll(() => on.close());

describe('an order as operators see it', () => {
  it('has its periods with attempts, refunds and benefits, its agreement, its latest events and its alerts', async () => {
    const channelUserId = unique('user');
    const externalOrderNo = unique('order');
    const orderNo = await on.paidOrder({ channelUserId, externalOrderNo });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 490, key: 'k', note: 'half of it' });
    await unsubscribeOrder(on.operator, { orderNo, reason: 'enough' });
    const { database } = on.service.fresh;
    const { agreement_no: agreementNo } = await agreementOf(database, orderNo);
    await raiseAlert(database, 'refund-refused', `R${periodNo(orderNo)}02`, 'mine');
    await raiseAlert(database, 'debit-wrong-amount', `${periodNo(orderNo)}01`, 'mine');
    await raiseAlert(database, 'debit-after-unsubscribe', orderNo, 'mine');
    await raiseAlert(database, 'agreement-cancel-failed', agreementNo, 'mine');
    await raiseAlert(database, 'debit-wrong-amount', `${orderNo}0000101`, 'of an order whose number is longer');
    await raiseAlert(database, 'debit-wrong-amount', `${Number(orderNo) + 1}000101`, 'of another order');

    const shown = await showOrder(on.operator, { orderNo });
    expect(await showOrder(on.operator, { externalOrderNo })).toEqual(shown);
    const asTheChannelSees = await on.query(orderNo);
    const { paymentRecords: _, redeemUrl: __, ...fields } = asTheChannelSees;
    expect(shown).toMatchObject(fields);
    expect(shown).toMatchObject({
      appId: 'test_demo',
      channelUserId,
      externalOrderNo,
      productCode: 'TEST_SPU_001',
      settlementMode: 'SVC_DEDUCT',
      amountCent: 1990,
      unsubscribeSource: 'OPERATIONS',
      unsubscribeReason: 'enough',
      agreement: {
        agreementNo,
        agreementStatus: 'CANCELED',
        agreementSource: 'SHARED_FROM_CHANNEL',
        paymentChannelCode: 'MOCKPAY',
        bankCardTailNo: '4567',
        cancelPending: true,
      },
    });
    expect(shown.payments).toMatchObject([
      {
        paymentOrderNo: periodNo(orderNo),
        paymentStatus: 'REFUND_PART',
        refundAmountCent: 490,
        attempts: [{ attemptNo: `${periodNo(orderNo)}01`, status: 'SUCCESS', agreementNo }],
        refunds: [{ refundNo: `R${periodNo(orderNo)}01`, amountCent: 490, key: 'k', note: 'half of it' }],
        benefits: [
          { benefitCode: 'VIP_PASS', status: 'ISSUED' },
          { benefitCode: 'COUPON', status: 'REVOKED' },
        ],
      },
    ]);
    expect(shown.events.map(({ status, cycleNo, cycleTo }) => [status, cycleNo, cycleTo])).toEqual([
      ['CANCELED', 2, 12],
      ['UNSUBSCRIBED', null, null],
      ['REFUND_PART', 1, null],
      ['ACTIVE', null, null],
      ['SUCCESS', 1, null],
    ]);
    expect(shown.alerts.map(({ detail }) => detail)).toEqual(['mine', 'mine', 'mine', 'mine']);
  });

  it('holds no secret and no card data', async () => {
    const channelUserId = unique('user');
    const shared = sharedAgreement(on.channel, channelUserId, { sharedAgreementNo: 'SECRET-NUMBER' });
    const orderNo = await on.paidOrder({ channelUserId, sharedAgreement: shared });
    const text = JSON.stringify(await showOrder(on.operator, { orderNo }));
    for (const secret of ['SECRET-NUMBER', '6222020000001234567', '110101199001011234', '张三', '13800000001']) {
      expect(text).not.toContain(secret);
    }
  });

  it('of mode B has no agreement and no attempts; every channel is shown', async () => {
    const another = await anotherChannel(on.service);
    const made = await another.call('orders/create', collectRequest(another, { channelAgreementRef: 'ref-1' }));
    expect(await showOrder(on.operator, { orderNo: made.data.orderNo })).toMatchObject({
      appId: another.credentials.appId,
      agreement: null,
      channelAgreementRef: 'ref-1',
      payments: [{ paymentStatus: 'BILLED', attempts: [], refunds: [] }],
      alerts: [],
    });
  });
});
