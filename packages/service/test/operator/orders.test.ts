import { beforeEach, describe, expect, it } from 'vitest';
import { findAlertsAbout, raiseAlert } from '../../src/alerts/alerts-sql.js';
import { listAudit } from '../../src/operator/audit/audit.js';
import { retryPeriod, unsubscribeOrder } from '../../src/operator/orders/orders.js';
import { showOrder } from '../../src/operator/orders/show-order.js';
import { ofFile } from '../orders/stage-of-file.js';
import { agreementOf, NO_NUMBERS, toldAbout } from '../orders/support.js';
import { periodNo, refundStage } from '../refunds/support.js';
import { costOf } from '../support/cost.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { dump } from './support.js';

const on = ofFile(refundStage);
beforeEach(() => {
  on.bank.reset();
  on.institution.reset();
});

const told = (orderNo: string) => toldAbout(on.service.fresh.database, orderNo);

async function nothingChanges(work: () => Promise<unknown>): Promise<void> {
  const before = await dump(on.service.fresh.database);
  await work();
  expect(await dump(on.service.fresh.database)).toBe(before);
}

async function orderWith(onDebit: typeof on.institution.onDebit): Promise<string> {
  on.institution.onDebit = onDebit;
  const { data } = await on.channel.call('orders/create', sharedRequest(on.channel));
  return data.orderNo;
}

describe('unsubscribe', () => {
  it('ends an active order as an unsubscribe by its channel does, and cancels its agreement', async () => {
    const orderNo = await on.paidOrder();
    const ended = await unsubscribeOrder(on.operator, { orderNo, reason: 'asked for by phone' });
    expect(ended).toMatchObject({ orderNo, orderStatus: 'UNSUBSCRIBED', changed: true });
    expect(await on.query(orderNo)).toMatchObject({
      orderStatus: 'UNSUBSCRIBED',
      unsubscribeTime: ended.unsubscribeTime,
      nextPayTime: null,
      redeemUrl: null,
    });
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
    expect(await agreementOf(on.service.fresh.database, orderNo)).toMatchObject({ status: 'CANCELED', asked: true });
    const [row] = await on.service.fresh.database.query(
      'select unsubscribe_source, unsubscribe_reason from orders where order_no = $1',
      [orderNo],
    );
    expect(row).toEqual({ unsubscribe_source: 'OPERATIONS', unsubscribe_reason: 'asked for by phone' });
    expect(await listAudit(on.operator, { subject: orderNo })).toMatchObject([
      { actor: 'test:ann', action: 'order.unsubscribe', detail: { reason: 'asked for by phone' } },
    ]);
  });

  it('is refused while the first debit is in flight, after completion, and for unknown orders', async () => {
    const waiting = await orderWith(async () => ({ kind: 'pending' }));
    const completed = await on.collectedOrder();
    await on.service.fresh.database.query(
      `update orders set status = 'COMPLETED', next_due_at = null where order_no = $1`,
      [completed],
    );
    await nothingChanges(async () => {
      await expect(unsubscribeOrder(on.operator, { orderNo: waiting })).rejects.toThrow(
        /waits for the result of its first debit/,
      );
      await expect(unsubscribeOrder(on.operator, { orderNo: completed })).rejects.toThrow(/is COMPLETED/);
      for (const orderNo of NO_NUMBERS) {
        await expect(unsubscribeOrder(on.operator, { orderNo })).rejects.toThrow(/there is no order/);
      }
      const reason = 'a\u0007';
      await expect(unsubscribeOrder(on.operator, { orderNo: completed, reason })).rejects.toThrow(/control characters/);
    });
  });
});

describe('retry', () => {
  /** Creates an order whose second period waits for a retry. */
  async function failedForNow(): Promise<string> {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => ({ kind: 'declined', decline: 'retryable', reason: 'no funds' });
    await makeDue(orderNo);
    await on.renew();
    expect(await on.queryPeriod(orderNo, 2)).toMatchObject({ paymentStatus: 'FAIL_RETRY' });
    on.institution.reset();
    // Sets the due time by the database's clock, which decides when a retry is due. The service's clock is months
    // behind it.
    await on.service.fresh.database.query(
      `update orders set next_due_at = now() + interval '1 day' where order_no = $1`,
      [orderNo],
    );
    return orderNo;
  }

  /** Makes the second period due now and the third due in a month, so that there is time for a retry. */
  async function makeDue(orderNo: string): Promise<void> {
    await on.service.fresh.database.query(
      `update orders set created_at = now() - interval '1 month', next_due_at = now() where order_no = $1`,
      [orderNo],
    );
  }

  it('makes a period that waits for its retry due now, and the next debit settles it', async () => {
    const orderNo = await failedForNow();
    await on.renew();
    expect(await on.queryPeriod(orderNo, 2)).toMatchObject({ paymentStatus: 'FAIL_RETRY' });
    expect(await retryPeriod(on.operator, { orderNo, cycleNo: 2 })).toEqual({
      orderNo,
      cycleNo: 2,
      paymentStatus: 'FAIL_RETRY',
      changed: true,
    });
    expect(await retryPeriod(on.operator, { orderNo, cycleNo: 2 })).toMatchObject({ changed: false });
    await on.renew();
    expect(await on.queryPeriod(orderNo, 2)).toMatchObject({ paymentStatus: 'SUCCESS' });
    expect(await listAudit(on.operator, { subject: orderNo })).toMatchObject([
      { action: 'order.retry', detail: { cycleNo: 2 } },
    ]);
    // The refund goes to the second attempt, because that attempt succeeded.
    await on.refund({ orderNo, cycleNo: 2 });
    expect(on.bank.asked).toMatchObject([{ attemptNo: `${periodNo(orderNo, 2)}02` }]);
  });

  it('is refused for a period in any other state', async () => {
    const orderNo = await failedForNow();
    const collected = await on.collectedOrder();
    const refused = (cycleNo: number, status: RegExp, of = orderNo) =>
      nothingChanges(() => expect(retryPeriod(on.operator, { orderNo: of, cycleNo })).rejects.toThrow(status));
    await refused(1, /is SUCCESS: only FAIL_RETRY can be retried/);
    await refused(3, /is WAIT/);
    await refused(13, /has no period 13/);
    await refused(0, /whole number/);
    await refused(1, /is BILLED/, collected);
    await refused(1, /there is no order/, '1');
    await unsubscribeOrder(on.operator, { orderNo });
    await refused(2, /is CANCELED/);
  });

  it('is refused for a period that has failed for good or is being debited', async () => {
    const orderNo = await on.paidOrder();
    on.institution.onDebit = async () => ({ kind: 'pending' });
    await makeDue(orderNo);
    await on.renew();
    await expect(retryPeriod(on.operator, { orderNo, cycleNo: 2 })).rejects.toThrow(/is PROCESSING/);
    on.institution.onQuery = async () => ({ kind: 'declined', decline: 'final', reason: 'blocked' });
    await on.askPending();
    await expect(retryPeriod(on.operator, { orderNo, cycleNo: 2 })).rejects.toThrow(/is FAIL: only FAIL_RETRY/);
  });
});

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

  it('has numbers that look like card numbers masked, as in the console', async () => {
    const orderNo = await on.paidOrder({ channelUserId: unique('user'), externalOrderNo: unique('4111111111111111 ') });
    await unsubscribeOrder(on.operator, { orderNo, reason: 'enough' });
    const shown = await showOrder(on.operator, { orderNo });
    expect(shown.externalOrderNo).toContain('1111');
    expect(JSON.stringify(shown)).not.toContain('4111111111111111');
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
});

it('alerts about an order, its parts and its agreement are found by an index, however many others there are', async () => {
  const { database } = on.service.fresh;
  const about = [
    '100000001000',
    '1000000010000001',
    '100000001000000101',
    'R100000001000000101',
    'C100000001000000101',
  ];
  const others = ['1000000010001', '100000001000001', 'R1000000010', 'X100000001000000101', '100000001000 ', 'AGR-10'];
  for (const subject of [...about, ...others, 'AGR-1']) await raiseAlert(database, 'refund-refused', subject, 'x');
  await database.query(
    `insert into alerts (kind, subject, detail, first_seen_at, last_seen_at)
     select 'refund-refused', 'R' || (200000000000 + n) || '000101', 'x', now(), now() from generate_series(1, 5000) n`,
  );
  await database.query('analyze alerts');
  const find = (agreementNo: string | null) =>
    costOf(database, (db) => findAlertsAbout(db, { orderNo: 100000001000, agreementNo }));
  const { result, rows, pages } = await find('AGR-1');
  expect(result.map(({ subject }) => subject).toSorted()).toEqual([...about, 'AGR-1'].toSorted());
  expect(rows).toBeLessThan(20);
  expect(pages).toBeLessThan(40);
  expect((await find(null)).result).toHaveLength(about.length);
});
