import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel, toldAbout } from '../orders/support.js';
import { periodNo, refundStage } from '../refunds/support.js';
import type { CallOptions } from '../support/channel-client.js';

const on = ofFile(refundStage);
beforeEach(() => on.bank.reset());

const refund = (paymentOrderNo: string, more: object = {}, options?: CallOptions) =>
  on.channel.call('sandbox/payments/refund', { paymentOrderNo, ...more }, options);

describe('sandbox/payments/refund', () => {
  it('0: a part and then the rest, with the events of a real refund', async () => {
    const orderNo = await on.paidOrder();
    const { database } = on.service.fresh;
    const part = await refund(periodNo(orderNo), { amountCent: 90, reason: 'a rehearsal' });
    expect(part.data).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 90 });
    const became = { refundStatus: 'SUCCESS', refundFailReason: null };
    expect(part.data).toEqual({ ...(await on.queryPeriod(orderNo)), ...became });
    const rest = await refund(periodNo(orderNo), { reason: 'to 4111 1111 1111 1111' });
    expect(rest.data).toMatchObject({ paymentStatus: 'REFUND_FULL', refundAmountCent: rest.data.amountCent });
    expect(await toldAbout(database, orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'REFUND_PART', 'REFUND_FULL']);
    expect(on.bank.asked.map(({ amountCent }) => amountCent)).toEqual([90, rest.data.amountCent - 90]);
    // A card number in a reason is stored masked.
    const stored = await database.query('select requested_by, note from refunds order by refund_seq');
    expect(stored).toEqual([
      { requested_by: 'channel:test_demo', note: 'a rehearsal' },
      { requested_by: 'channel:test_demo', note: 'to 411111******1111' },
    ]);
  });

  it('400001: unpaid periods, and more than is left; 420009: an order that its channel collects', async () => {
    const orderNo = await on.paidOrder();
    const messages = [
      await refund(periodNo(orderNo, 2)),
      await refund(periodNo(orderNo), { amountCent: 10_000_000 }),
      (await refund(periodNo(orderNo))) && (await refund(periodNo(orderNo))),
    ].map(({ envelope }) => [envelope.code, envelope.message]);
    expect(messages).toEqual([
      ['400001', 'the period is WAIT: only a paid period can be refunded'],
      ['400001', expect.stringMatching(/^only \d+ cents of the period are left to refund$/)],
      ['400001', 'only 0 cents of the period are left to refund'],
    ]);
    expect(on.bank.asked).toHaveLength(1);
    expect((await refund(periodNo(await on.collectedOrder()))).code).toBe('420009');
  });

  it("420001: unknown numbers, and another channel's", async () => {
    const orderNo = await on.paidOrder();
    const other = await anotherChannel(on.service);
    const replies = [
      await refund('nothing'),
      await refund(periodNo(orderNo, 13)),
      await other.call('sandbox/payments/refund', { paymentOrderNo: periodNo(orderNo) }),
    ];
    expect(replies.map(({ code }) => code)).toEqual(['420001', '420001', '420001']);
    expect(on.bank.asked).toEqual([]);
  });

  it('one refund per key, also for concurrent requests and after a lost answer', async () => {
    const orderNo = await on.paidOrder();
    const idempotencyKey = randomUUID();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => refund(periodNo(orderNo), { amountCent: 1 }, { idempotencyKey })),
    );
    expect(new Set(replies.map(({ text }) => JSON.parse(text).data.refundAmountCent))).toEqual(new Set([1]));
    expect(on.bank.booked.size).toBe(1);
    expect((await refund(periodNo(orderNo), { amountCent: 2 }, { idempotencyKey })).code).toBe('409001');
  });

  it('0: an institution that does not answer at once, or refuses: the unchanged period, and the state of the refund', async () => {
    const orderNo = await on.paidOrder();
    const asItIs = { paymentStatus: 'SUCCESS', refundAmountCent: 0 };
    on.bank.onRefund = async () => ({ kind: 'unknown' });
    const open = { ...asItIs, refundStatus: 'PROCESSING', refundFailReason: null };
    expect((await refund(periodNo(orderNo), { amountCent: 5 })).data).toMatchObject(open);
    on.bank.onRefund = async () => ({ kind: 'refused', reason: 'no' });
    const refused = { ...asItIs, refundStatus: 'FAIL', refundFailReason: 'no' };
    const idempotencyKey = randomUUID();
    for (let times = 0; times < 2; times += 1) {
      expect((await refund(periodNo(orderNo), { amountCent: 7 }, { idempotencyKey })).data).toMatchObject(refused);
    }
    on.bank.reset();
    await on.askAll();
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 5 });
  });
});
