import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { choosePositionsToRevoke } from '../../src/subscriptions/steps/benefits/revoke-benefits.js';
import { dailyProduct } from '../orders/support.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { type RefundStage, refundStage } from './support.js';

let on: RefundStage;
beforeAll(async () => {
  on = await refundStage();
  const benefit = (benefitCode: string, faceValueCent: number) => ({ benefitCode, name: benefitCode, faceValueCent });
  await dailyProduct(on.service, 'FOUR', 7, [benefit('A', 30), benefit('B', 60), benefit('C', 20), benefit('D', 0)]);
  await dailyProduct(on.service, 'BARE', 7, []);
});
afterAll(() => on.close());
beforeEach(() => on.bank.reset());

/** Each benefit of the period with a letter for its status, in their order. */
async function benefitsOf(orderNo: string, cycleNo = 1): Promise<string> {
  const rows = await on.service.fresh.database.query<{ benefit_code: string; status: string }>(
    'select benefit_code, status from benefits where order_no = $1 and cycle_no = $2 order by position',
    [orderNo, cycleNo],
  );
  return rows.map((row) => `${row.benefit_code} ${row.status}`).join(', ');
}

async function claim(orderNo: string, benefitCode: string): Promise<void> {
  await on.service.fresh.database.query(
    `update benefits set status = 'CLAIMED', claim_no = 'c-1', claimed_at = issued_at
     where order_no = $1 and benefit_code = $2`,
    [orderNo, benefitCode],
  );
}

const linkOf = async (orderNo: string) => (await on.query(orderNo))['redeemUrl'];

describe('the benefits of a period that is refunded', () => {
  it('in full: all that were not claimed are revoked', async () => {
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

  it('in part: the newest that fit into what was refunded so far', async () => {
    const orderNo = await on.paidOrder();
    const part = (amountCent: number) => on.refund({ orderNo, cycleNo: 1, amountCent });
    await part(489);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await part(1);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON REVOKED');
    await part(1499);
    // The coupon has used up its share: 1499 is one cent short of the pass.
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON REVOKED');
    expect(await linkOf(orderNo)).not.toBeNull();
    await part(1);
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS REVOKED, COUPON REVOKED');
    expect(await linkOf(orderNo)).toBeNull();
  });

  it('in part: one that does not fit is passed over, one that is worth nothing always fits', async () => {
    const orderNo = await on.paidOrder({ productCode: 'FOUR' });
    await on.refund({ orderNo, cycleNo: 1, amountCent: 55 });
    // D 0, C 20, then B 60 does not fit into 35, A 30 does.
    expect(await benefitsOf(orderNo)).toBe('A REVOKED, B ISSUED, C REVOKED, D REVOKED');
  });

  it('in part: a claimed one is neither taken back nor counted', async () => {
    const orderNo = await on.paidOrder({ productCode: 'FOUR' });
    await claim(orderNo, 'C');
    await on.refund({ orderNo, cycleNo: 1, amountCent: 30 });
    expect(await benefitsOf(orderNo)).toBe('A REVOKED, B ISSUED, C CLAIMED, D REVOKED');
  });

  it('that has none: the money alone', async () => {
    const orderNo = await on.paidOrder({ productCode: 'BARE' });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({
      payment: { paymentStatus: 'REFUND_FULL', benefits: [] },
    });
  });

  it('stay as they are while the refund is on its way, and when it is refused', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    on.bank.onQuery = async () => ({ kind: 'refused', reason: 'no' });
    await on.askAll();
    expect(await benefitsOf(orderNo)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    expect(await linkOf(orderNo)).not.toBeNull();
  });

  it('of another period are untouched, and keep the link', async () => {
    const orderNo = await on.paidOrder();
    await on.renew();
    expect(await benefitsOf(orderNo, 2)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    await on.refund({ orderNo, cycleNo: 1 });
    expect(await benefitsOf(orderNo, 1)).toBe('VIP_PASS REVOKED, COUPON REVOKED');
    expect(await benefitsOf(orderNo, 2)).toBe('VIP_PASS ISSUED, COUPON ISSUED');
    expect(await linkOf(orderNo)).not.toBeNull();
    expect(await on.query(orderNo)).toMatchObject({ totalPaidAmountCent: 3980, totalRefundAmountCent: 1990 });
    // All periods that were paid are refunded in full: nothing is left to redeem.
    await on.refund({ orderNo, cycleNo: 2 });
    expect(await linkOf(orderNo)).toBeNull();
  });

  it('that is being claimed at the same moment is claimed', async () => {
    const orderNo = await on.paidOrder({ productCode: 'FOUR' });
    const { database } = on.service.fresh;
    let refunding: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(
        `update benefits set status = 'CLAIMED', claim_no = 'c-2', claimed_at = issued_at
         where order_no = $1 and benefit_code = 'C'`,
        [orderNo],
      );
      refunding = on.refund({ orderNo, cycleNo: 1, amountCent: 30 });
      await waitsForLock();
    });
    await refunding;
    expect(await benefitsOf(orderNo)).toBe('A REVOKED, B ISSUED, C CLAIMED, D REVOKED');
  });
});

const waitsForLock = () => until('somebody waits', async () => (await lockWaits(on.service.fresh.database)) > 0);

describe('what fits', () => {
  const issued = (...values: number[]) =>
    values.map((faceValueCent, position) => ({ position, faceValueCent, status: 'ISSUED' as const }));

  it.each([
    [[100], 99, []],
    [[100], 100, [0]],
    [[100, 100, 100], 250, [2, 1]],
    [[10, 300, 20], 250, [2, 0]],
    [[], 5, []],
    [[0, 0], 0, [1, 0]],
  ])('of %j into %i: %j', (values, sum, positions) => {
    expect(choosePositionsToRevoke(issued(...values), sum)).toEqual(positions);
  });

  it('what was revoked before has its share', () => {
    const [first, second] = issued(100, 200);
    if (!first || !second) throw new Error('two');
    expect(choosePositionsToRevoke([first, { ...second, status: 'REVOKED' }], 299)).toEqual([]);
    expect(choosePositionsToRevoke([first, { ...second, status: 'REVOKED' }], 300)).toEqual([0]);
  });
});
