import { describe, expect, it } from 'vitest';
import { stageOfFile } from '../orders/stage-of-file.js';
import { anotherChannel, NO_NUMBERS } from '../orders/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';

const { on, service, channel, sql, create } = stageOfFile();

const query = (paymentOrderNo: unknown) => channel.call('payments/query', { paymentOrderNo });

describe('payments/query', () => {
  it.each([
    ['A', 'SUCCESS', () => sharedRequest(channel)],
    ['B', 'BILLED', () => collectRequest(channel)],
  ])('0: every field of the interface and no other, in mode %s', async (_mode, paymentStatus, ask) => {
    const request = ask();
    const { orderNo } = await create(request);
    expect((await query(`${orderNo}0001`)).data).toEqual({
      paymentOrderNo: `${orderNo}0001`,
      orderNo,
      externalOrderNo: request.externalOrderNo,
      cycleNo: 1,
      expectPayTime: '2026-01-31 12:00:00',
      paidAt: '2026-01-31 12:00:00',
      amountCent: 1990,
      usedAmountCent: 0,
      refundTime: null,
      refundAmountCent: 0,
      paymentStatus,
      claimRecords: [],
    });
  });

  it('0: each period as orders/query lists it', async () => {
    const { orderNo } = await create(sharedRequest(channel));
    for (const again of [1, 2]) {
      const { paymentRecords } = (await channel.call('orders/query', { orderNo })).data;
      expect(paymentRecords).toHaveLength(12);
      for (const record of paymentRecords) {
        expect((await query(record.paymentOrderNo)).data).toMatchObject(record);
      }
      if (again === 1) await channel.call('orders/unsubscribe', { orderNo });
    }
  });

  it('0: what was redeemed, in the order of redeeming; never more than the amount', async () => {
    const { orderNo } = await create(collectRequest(channel));
    const claim = (position: number, claimNo: string, at: string) =>
      sql(
        `update benefits set status = 'CLAIMED', claim_no = $3, claimed_at = $4 where order_no = $1 and position = $2`,
        [orderNo, position, claimNo, at],
      );
    await claim(2, 'C-1', '2026-02-01 08:00:00');
    const coupon = {
      claimNo: 'C-1',
      benefitCode: 'COUPON',
      benefitName: 'Coupon',
      faceValueCent: 490,
      claimedAt: '2026-02-01 08:00:00',
    };
    expect((await query(`${orderNo}0001`)).data).toMatchObject({ usedAmountCent: 490, claimRecords: [coupon] });
    await claim(1, 'C-2', '2026-02-01 09:00:00');
    const pass = {
      claimNo: 'C-2',
      benefitCode: 'VIP_PASS',
      benefitName: 'VIP pass',
      faceValueCent: 1500,
      claimedAt: '2026-02-01 09:00:00',
    };
    expect((await query(`${orderNo}0001`)).data).toMatchObject({ usedAmountCent: 1990, claimRecords: [coupon, pass] });
    await sql('update benefits set face_value_cent = 5000 where order_no = $1 and position = 1', [orderNo]);
    expect((await query(`${orderNo}0001`)).data).toMatchObject({ usedAmountCent: 1990 });
    // Claims of one period are not shown in another period.
    expect((await query(`${orderNo}0002`)).data).toMatchObject({ usedAmountCent: 0, claimRecords: [] });
  });

  it.each(['ISSUED', 'REVOKED', 'EXPIRED'])('0: a benefit that is %s counts as nothing', async (status) => {
    const { orderNo } = await create(collectRequest(channel));
    await sql('update benefits set status = $2 where order_no = $1', [orderNo, status]);
    expect((await query(`${orderNo}0001`)).data).toMatchObject({ usedAmountCent: 0, claimRecords: [] });
  });

  it('0: a first debit on its way, and one that failed; 420001: periods that then are not', async () => {
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const open = await create(sharedRequest(channel));
    on.institution.onDebit = async () => ({ kind: 'declined', decline: 'final', reason: 'no' });
    const failed = await create(sharedRequest(channel));
    for (const [orderNo, paymentStatus] of [
      [open.orderNo, 'PROCESSING'],
      [failed.orderNo, 'FAIL'],
    ]) {
      expect((await query(`${orderNo}0001`)).data).toMatchObject({ paymentStatus, paidAt: null });
      expect((await query(`${orderNo}0002`)).code).toBe('420001');
    }
  });

  it('420001: unknown, foreign and impossible numbers, all in the same words', async () => {
    const { orderNo } = await create(collectRequest(channel));
    const other = await anotherChannel(service);
    const replies = [
      await other.call('payments/query', { paymentOrderNo: `${orderNo}0001` }),
      await other.call('payments/query', { paymentOrderNo: `${orderNo}0002` }),
      await query('1000000000010001'),
      await query(orderNo),
      await query(`${orderNo}0000`),
      await query(`${orderNo}0013`),
      await query(`${orderNo}9999`),
      await query(`0${orderNo}0001`),
      await query(`${orderNo}0001 `),
      await query(`${orderNo}1`),
      ...(await Promise.all(NO_NUMBERS.map(query))),
    ];
    for (const { envelope } of replies) {
      expect(envelope).toMatchObject({ code: '420001', message: 'no such order', data: null });
    }
    expect((await query(`${orderNo}0012`)).code).toBe('0');
  });
});
