import { formatTime } from '@perennial/wire';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import type { Queryable } from '../../src/platform/db/database.js';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { dailyProduct, eventsOf, NO_NUMBERS, toldAbout } from '../orders/support.js';
import { lockWaits } from '../support/database.js';
import { sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { periodNo, type RefundStage, refundStage } from './support.js';

const on = ofFile(refundStage);
beforeEach(() => {
  on.bank.reset();
  on.institution.reset();
});

const refundsOf = (orderNo: string) =>
  on.service.fresh.database.query(
    'select refund_seq, amount_cent, status from refunds where order_no = $1 order by 1',
    [orderNo],
  );

describe('a refund', () => {
  it('in full: REFUND_FULL everywhere, one event, the order continues', async () => {
    const orderNo = await on.paidOrder();
    const before = await on.query(orderNo);
    on.service.clock.advance(3_600_000);
    const refundTime = formatTime(on.service.clock.now());

    expect(await on.refund({ orderNo, cycleNo: 1, note: 'late delivery' })).toEqual({
      refundNo: `R${periodNo(orderNo)}01`,
      orderNo,
      cycleNo: 1,
      paymentOrderNo: periodNo(orderNo),
      amountCent: 1990,
      status: 'SUCCESS',
      reason: null,
      key: null,
      note: 'late delivery',
      keepBenefits: false,
      requestedBy: 'test:ann',
      startedAt: refundTime,
      refundedAt: refundTime,
      institutionRef: `ref-R${orderNo}000101`,
      payment: {
        paymentStatus: 'REFUND_FULL',
        amountCent: 1990,
        refundAmountCent: 1990,
        benefits: [
          expect.objectContaining({ benefitCode: 'VIP_PASS', status: 'REVOKED' }),
          expect.objectContaining({ benefitCode: 'COUPON', status: 'REVOKED' }),
        ],
      },
      changed: true,
    });
    const attemptNo = `${periodNo(orderNo)}01`;
    expect(on.bank.asked).toEqual([{ appId: 'test_demo', refundNo: `R${attemptNo}`, attemptNo, amountCent: 1990 }]);

    const after = await on.query(orderNo);
    const [first, ...rest] = after['paymentRecords'] as Record<string, unknown>[];
    expect(first).toMatchObject({ paymentStatus: 'REFUND_FULL', refundAmountCent: 1990, amountCent: 1990 });
    expect(rest).toEqual((before['paymentRecords'] as unknown[]).slice(1));
    expect(after).toMatchObject({
      orderStatus: 'ACTIVE',
      totalPaidAmountCent: 1990,
      totalRefundAmountCent: 1990,
      nextPayTime: before['nextPayTime'],
      redeemUrl: null,
    });
    expect(before['redeemUrl']).not.toBeNull();
    expect(await on.queryPeriod(orderNo)).toMatchObject({
      paymentStatus: 'REFUND_FULL',
      refundAmountCent: 1990,
      refundTime,
      paidAt: before['createTime'],
    });
    expect(await toldAbout(on.service.fresh.database, orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'REFUND_FULL']);
    expect((await eventsOf(on.service.fresh.database, orderNo)).at(-1)).toMatchObject({
      event_type: 'payment.status.changed',
      cycle_no: 1,
      data: { orderNo, paymentStatus: 'REFUND_FULL', refundAmountCent: 1990, refundTime, amountCent: 1990 },
    });
  });

  it('in parts: they add up to REFUND_FULL, and never exceed it', async () => {
    const orderNo = await on.paidOrder();
    const part = (amountCent?: number) =>
      on.refund({ orderNo, cycleNo: 1, ...(amountCent === undefined ? {} : { amountCent }) });
    const period = (paymentStatus: string, refundAmountCent: number) => ({
      payment: { paymentStatus, refundAmountCent },
    });

    expect(await part(500)).toMatchObject({ amountCent: 500, ...period('REFUND_PART', 500) });
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 500, totalPaidAmountCent: 1990 });
    await expect(part(1491)).rejects.toThrow(/14\.90 CNY left to refund: 5\.00 CNY of 19\.90 CNY was refunded$/);
    expect(await part(490)).toMatchObject(period('REFUND_PART', 990));
    expect(await part()).toMatchObject({ amountCent: 1000, ...period('REFUND_FULL', 1990) });
    await expect(part(1)).rejects.toThrow(/refunded in full/);
    await expect(part()).rejects.toThrow(/refunded in full/);

    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990, totalPaidAmountCent: 1990 });
    const told = (await eventsOf(on.service.fresh.database, orderNo)).slice(2).map(({ data }) => data);
    expect(told).toMatchObject([
      { paymentStatus: 'REFUND_PART', refundAmountCent: 500 },
      { paymentStatus: 'REFUND_PART', refundAmountCent: 990 },
      { paymentStatus: 'REFUND_FULL', refundAmountCent: 1990 },
    ]);
    expect(on.bank.asked.map(({ refundNo, amountCent }) => [refundNo.slice(-2), amountCent])).toEqual([
      ['01', 500],
      ['02', 490],
      ['03', 1000],
    ]);
  });

  it('is possible after the order has ended, and does not reactivate it', async () => {
    const orderNo = await on.paidOrder();
    await on.channel.call('orders/unsubscribe', { orderNo });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({ status: 'SUCCESS' });
    expect(await on.query(orderNo)).toMatchObject({ orderStatus: 'UNSUBSCRIBED', totalRefundAmountCent: 1990 });
  });

  it("uses the attempt and payment channel that took the money, whatever the order's current agreement", async () => {
    const user = unique('user');
    const orderNo = await on.paidOrder({ channelUserId: user });
    const newSharedAgreement = sharedAgreement(on.channel, user);
    const replaced = await on.channel.call('agreements/replace', { orderNo, newSharedAgreement });
    expect(replaced.code).toBe('0');
    await on.refund({ orderNo, cycleNo: 1 });
    expect(on.bank.asked).toMatchObject([{ attemptNo: `${periodNo(orderNo)}01` }]);
  });

  it('shows in later events as the status of the latest period, but not if it is of an earlier one', async () => {
    const orderNo = await on.paidOrder();
    await on.renew();
    const latest = async () => {
      const [row] = await on.service.fresh.database.query<{ status: string }>(
        'select latest_payment_status as status from orders where order_no = $1',
        [orderNo],
      );
      return row?.status;
    };
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await latest()).toBe('SUCCESS');
    await on.refund({ orderNo, cycleNo: 2, amountCent: 5 });
    await on.channel.call('orders/unsubscribe', { orderNo });
    const events = await eventsOf(on.service.fresh.database, orderNo);
    expect(events.find(({ data }) => data['orderStatus'] === 'UNSUBSCRIBED')?.data).toMatchObject({
      latestPaymentStatus: 'REFUND_PART',
      totalRefundAmountCent: 1995,
      totalPaidAmountCent: 3980,
      totalPaidCycles: 2,
    });
  });

  it('is written to the audit log in the same transaction', async () => {
    const orderNo = await on.paidOrder();
    await on.refund({ orderNo, cycleNo: 1, amountCent: 5, key: 'k', note: 'n' });
    expect(await listAudit(on.operator, { subject: orderNo })).toMatchObject([
      {
        actor: 'test:ann',
        action: 'order.refund',
        detail: { refundNo: `R${periodNo(orderNo)}01`, cycleNo: 1, amountCent: 5, key: 'k', note: 'n' },
      },
    ]);
  });
});

describe('a key', () => {
  it('used again gives the same refund, before and after its outcome is known', async () => {
    const orderNo = await on.paidOrder();
    const input = { orderNo, cycleNo: 1, amountCent: 700, key: 'ticket-1' };
    on.bank.onRefund = async (request) => {
      on.bank.book(request);
      return { kind: 'unknown' };
    };
    const first = await on.refund(input);
    expect(first).toMatchObject({ status: 'STARTED', changed: true, payment: { paymentStatus: 'SUCCESS' } });
    // The refund is queried, not requested again.
    expect(await on.refund(input)).toMatchObject({ status: 'SUCCESS', changed: true, refundNo: first.refundNo });
    expect(await on.refund(input)).toMatchObject({ status: 'SUCCESS', changed: false, refundNo: first.refundNo });
    const { amountCent: _, ...withoutAmount } = input;
    expect(await on.refund(withoutAmount)).toMatchObject({ changed: false, refundNo: first.refundNo });
    expect(on.bank.asked).toHaveLength(1);
    expect(on.bank.queries).toHaveLength(1);
    expect(await refundsOf(orderNo)).toEqual([{ refund_seq: 1, amount_cent: 700, status: 'SUCCESS' }]);
    expect(await listAudit(on.operator, { subject: orderNo })).toHaveLength(1);
  });

  it('with another amount is refused, even if the period is refunded in full', async () => {
    const orderNo = await on.paidOrder();
    await on.refund({ orderNo, cycleNo: 1, key: 'all' });
    await expect(on.refund({ orderNo, cycleNo: 1, amountCent: 1, key: 'all' })).rejects.toThrow(
      /key "all" was already used for refund R\d+ of 19\.90 CNY/,
    );
    expect(await on.refund({ orderNo, cycleNo: 1, amountCent: 1990, key: 'all' })).toMatchObject({ changed: false });
  });

  it('is valid only for its period', async () => {
    const [one, other] = [await on.paidOrder(), await on.paidOrder()];
    const refunded = await on.refund({ orderNo: one, cycleNo: 1, key: 'same' });
    expect(await on.refund({ orderNo: other, cycleNo: 1, key: 'same' })).toMatchObject({ changed: true });
    expect(refunded.refundNo).not.toContain(other);
  });

  it('without a key, each call is a new refund, and refunds in flight count', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    on.bank.onQuery = async () => ({ kind: 'pending' });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 1500 });
    await expect(on.refund({ orderNo, cycleNo: 1, amountCent: 491 })).rejects.toThrow(
      /4\.90 CNY left to refund: 0\.00 CNY of 19\.90 CNY was refunded, 15\.00 CNY is pending \(R\d+01\)/,
    );
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({ amountCent: 490, status: 'STARTED' });
    await expect(on.refund({ orderNo, cycleNo: 1 })).rejects.toThrow(/ 0\.00 CNY left/);
    expect(await refundsOf(orderNo)).toHaveLength(2);
  });
});

describe('refused, with nothing written and no call', () => {
  const refused = async (input: Parameters<RefundStage['refund']>[0], reason: RegExp) => {
    const before = await dump(on.service.fresh.database);
    await expect(on.refund(input)).rejects.toThrow(reason);
    expect(await dump(on.service.fresh.database)).toBe(before);
    expect(on.bank.asked).toEqual([]);
  };

  it.each([...NO_NUMBERS, '100000000999'])('an unknown order number: %s', async (orderNo) => {
    await refused({ orderNo, cycleNo: 1 }, /there is no order/);
  });

  it('a period that does not exist or is not paid', async () => {
    const orderNo = await on.paidOrder();
    await refused({ orderNo, cycleNo: 13 }, /has no period 13/);
    await refused({ orderNo, cycleNo: 2 }, /period 2 of order \d+ is WAIT: only a paid period/);
    await on.channel.call('orders/unsubscribe', { orderNo });
    await refused({ orderNo, cycleNo: 2 }, /is CANCELED/);
  });

  it('a first debit in flight, and a failed one', async () => {
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const orderNo = await unpaidOrder();
    await refused({ orderNo, cycleNo: 1 }, /is PROCESSING/);
    on.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'no' });
    await refused({ orderNo: await unpaidOrder(), cycleNo: 1 }, /is FAIL/);
  });

  it('invalid amounts, periods, keys and notes', async () => {
    const orderNo = await on.paidOrder();
    const period = { orderNo, cycleNo: 1 };
    await refused({ ...period, amountCent: 1991 }, /19\.90 CNY left/);
    for (const amountCent of [0, -1, 1.5, Number.NaN, 2 ** 60])
      await refused({ ...period, amountCent }, /whole number/);
    for (const cycleNo of [0, -1, 1.5, 10_000]) await refused({ orderNo, cycleNo }, /period must be a whole number/);
    await refused({ ...period, key: '' }, /the key must have 1 to 200/);
    await refused({ ...period, key: 'x'.repeat(201) }, /the key must have 1 to 200/);
    await refused({ ...period, note: 'a\nb' }, /control characters/);
  });

  it('the hundredth refund of a period', async () => {
    const orderNo = await on.paidOrder();
    for (let n = 1; n <= 99; n += 1) await on.refund({ orderNo, cycleNo: 1, amountCent: 1 });
    on.bank.reset();
    await refused({ orderNo, cycleNo: 1 }, /already has 99 refunds/);
  });
});

async function unpaidOrder(): Promise<string> {
  return (await on.channel.call('orders/create', sharedRequest(on.channel))).data.orderNo;
}

beforeAll(async () => {
  const benefit = (benefitCode: string, faceValueCent: number) => ({ benefitCode, name: benefitCode, faceValueCent });
  await dailyProduct(on.service, 'FOUR', 7, [benefit('A', 30), benefit('B', 60), benefit('C', 20), benefit('D', 0)]);
  await dailyProduct(on.service, 'BARE', 7, []);
});

/** Returns the period's benefits with their statuses, in the sequence in which the product lists them. */
async function benefitsOf(orderNo: string, cycleNo = 1): Promise<string> {
  const rows = await on.service.fresh.database.query<{ benefit_code: string; status: string }>(
    'select benefit_code, status from benefits where order_no = $1 and cycle_no = $2 order by position',
    [orderNo, cycleNo],
  );
  return rows.map((row) => `${row.benefit_code} ${row.status}`).join(', ');
}

async function claim(orderNo: string, benefitCode: string, by: Queryable = on.service.fresh.database): Promise<void> {
  await by.query(
    `update benefits set status = 'CLAIMED', claim_no = 'c-1', claimed_at = issued_at
     where order_no = $1 and benefit_code = $2`,
    [orderNo, benefitCode],
  );
}

const linkOf = async (orderNo: string) => (await on.query(orderNo))['redeemUrl'];

describe('the benefits of a period that is refunded', () => {
  it('in full: all unclaimed ones are revoked', async () => {
    const orderNo = await on.paidOrder();
    await claim(orderNo, 'VIP_PASS');
    const { payment } = await on.refund({ orderNo, cycleNo: 1 });
    expect(payment.benefits.map(({ benefitCode, status }) => `${benefitCode} ${status}`)).toEqual([
      'VIP_PASS CLAIMED',
      'COUPON REVOKED',
    ]);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS CLAIMED, COUPON REVOKED');
    expect(await on.queryPeriod(orderNo)).toMatchObject({
      usedAmountCent: 1500,
      claimRecords: [{ benefitCode: 'VIP_PASS' }],
    });
    expect(await linkOf(orderNo)).toBeNull();
  });

  it('in part: the newest that fit into the refunded sum are revoked', async () => {
    const orderNo = await on.paidOrder();
    const part = (amountCent: number) => on.refund({ orderNo, cycleNo: 1, amountCent });
    await part(489);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await part(1);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON REVOKED');
    await part(1499);
    // 1989 is refunded in total. The revoked coupon takes 490 of it. The other 1499 is one cent less than the pass's
    // value.
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON REVOKED');
    expect(await linkOf(orderNo)).not.toBeNull();
    await part(1);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS REVOKED, COUPON REVOKED');
    expect(await linkOf(orderNo)).toBeNull();
  });

  it.each([
    // D takes 0 and C takes 20. B does not fit into the remaining 35, but A does, with 30.
    ['a benefit that does not fit is skipped, one without value always fits', '', 55, 'REVOKED'],
    ['a claimed one is neither revoked nor counted', 'C', 30, 'CLAIMED'],
  ])('in part: %s', async (_what, claimed, amountCent, status) => {
    const orderNo = await on.paidOrder({ productCode: 'FOUR' });
    await claim(orderNo, claimed);
    await on.refund({ orderNo, cycleNo: 1, amountCent });
    expect(await benefitsOf(orderNo)).toBe(`A REVOKED, B ISSUED, C ${status}, D REVOKED`);
  });

  it('stay if the refund keeps them, also if the job settles it later; a full refund revokes them', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 1500, keepBenefits: true });
    on.bank.reset();
    await on.askAll();
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 1500 });
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await on.refund({ orderNo, cycleNo: 1, amountCent: 100 });
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await expect(on.refund({ orderNo, cycleNo: 1, keepBenefits: true })).rejects.toThrow(
      /revokes its unclaimed benefits/,
    );
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS REVOKED, COUPON REVOKED');
  });

  it('without benefits: only the money', async () => {
    const orderNo = await on.paidOrder({ productCode: 'BARE' });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({
      payment: { paymentStatus: 'REFUND_FULL', benefits: [] },
    });
  });

  it('are unchanged while the refund is in flight, and if it is refused', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    on.bank.onQuery = async () => ({ kind: 'refused', reason: 'no' });
    await on.askAll();
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    expect(await linkOf(orderNo)).not.toBeNull();
  });

  it('of another period are unchanged, and keep the link', async () => {
    const orderNo = await on.paidOrder();
    await on.renew();
    expect(await benefitsOf(orderNo, 2)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await benefitsOf(orderNo, 1)).toBe('VIP_PASS REVOKED, COUPON REVOKED');
    expect(await benefitsOf(orderNo, 2)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    expect(await linkOf(orderNo)).not.toBeNull();
    expect(await on.query(orderNo)).toMatchObject({ totalPaidAmountCent: 3980, totalRefundAmountCent: 1990 });
    // All paid periods are refunded in full, so nothing is left to redeem and there is no link.
    await on.refund({ orderNo, cycleNo: 2 });
    expect(await linkOf(orderNo)).toBeNull();
  });

  it('a benefit that is being claimed concurrently is claimed', async () => {
    const orderNo = await on.paidOrder({ productCode: 'FOUR' });
    const { database } = on.service.fresh;
    let refunding: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await claim(orderNo, 'C', tx);
      refunding = on.refund({ orderNo, cycleNo: 1, amountCent: 30 });
      await until('the refund waits', async () => (await lockWaits(database)) > 0);
    });
    await refunding;
    expect(await benefitsOf(orderNo)).toBe('A REVOKED, B ISSUED, C CLAIMED, D REVOKED');
  });
});
