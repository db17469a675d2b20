import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit.js';
import { alerts, toldAbout } from '../orders/support.js';
import { type RefundStage, refundStage } from './support.js';

let on: RefundStage;
beforeAll(async () => {
  on = await refundStage();
});
afterAll(() => on.close());
beforeEach(() => on.bank.reset());

const AT_ONCE = 100;

function atOnce<T>(call: (n: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: AT_ONCE }, (_, n) => call(n)));
}

const booked = () => [...on.bank.booked.values()].reduce((sum, { amountCent }) => sum + amountCent, 0);
const refundRows = (orderNo: string) =>
  on.service.fresh.database.query<{ status: string; amount_cent: number }>(
    'select status, amount_cent from refunds where order_no = $1',
    [orderNo],
  );

describe(`${AT_ONCE} refunds of one period at once`, () => {
  it('with one key: one refund, which all of them hear of', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce(() => on.refund({ orderNo, cycleNo: 1, amountCent: 500, key: 'one' }));
    const numbers = results.map((one) => (one.status === 'fulfilled' ? one.value.refundNo : String(one.reason)));
    expect(new Set(numbers).size).toBe(1);
    expect(results.every((one) => one.status === 'fulfilled' && one.value.status === 'SUCCESS')).toBe(true);
    expect(await refundRows(orderNo)).toEqual([{ status: 'SUCCESS', amount_cent: 500 }]);
    expect(booked()).toBe(500);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 500 });
    expect(await toldAbout(on.service.fresh.database, orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'REFUND_PART']);
    expect(await listAudit(on.operator, { subject: orderNo })).toHaveLength(1);
    expect(await alerts(on.service.fresh.database)).toEqual([]);
  });

  it('with a key each: never more than was paid, and every one that was promised is paid out', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 100, key: `key-${n}` }));
    const done = results.filter((one) => one.status === 'fulfilled');
    expect(done).toHaveLength(19);
    for (const one of results) {
      if (one.status === 'rejected') expect(String(one.reason)).toMatch(/0\.90 CNY is left to refund/);
    }
    expect(booked()).toBe(1900);
    expect(await on.queryPeriod(orderNo)).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 1900 });
    expect(await on.refund({ orderNo, cycleNo: 1 })).toMatchObject({ amountCent: 90 });
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
  });

  it('and one that is open is asked about by one node at a time', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async () => ({ kind: 'pending' });
    on.bank.onQuery = async () => ({ kind: 'pending' });
    await on.refund({ orderNo, cycleNo: 1 });
    await on.service.fresh.database.query('update refunds set ask_at = now() where ask_at is not null');
    const asked = await Promise.all(Array.from({ length: 16 }, () => on.askDueRefunds()));
    expect(asked.toSorted().at(-1)).toBe(1);
    expect(on.bank.queries).toHaveLength(1);
    on.bank.onQuery = async () => ({ kind: 'success', refundedAt: 1, amountCent: 1990 });
    await on.askAll();
  });

  it('without keys, all that is left each: one', async () => {
    const orderNo = await on.paidOrder();
    const results = await atOnce(() => on.refund({ orderNo, cycleNo: 1 }));
    expect(results.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    expect(booked()).toBe(1990);
  });

  it('while the institution says nothing, and the job asks at the same time: each amount once', async () => {
    const orderNo = await on.paidOrder();
    on.bank.onRefund = async (request) => {
      on.bank.book(request);
      return { kind: 'unknown' };
    };
    const [results] = await Promise.all([
      atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 199, key: `key-${n % 20}` })),
      ...Array.from({ length: 5 }, () => on.askAll()),
    ]);
    await on.askAll();
    const numbers = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value.refundNo] : []));
    expect(new Set(numbers).size).toBe(10);
    expect(booked()).toBe(1990);
    expect(await on.query(orderNo)).toMatchObject({ totalRefundAmountCent: 1990 });
    const told = await toldAbout(on.service.fresh.database, orderNo);
    expect(told.slice(2)).toEqual([...Array.from({ length: 9 }, () => 'REFUND_PART'), 'REFUND_FULL']);
  });

  it('and an unsubscribe and a renewal beside them: nothing is lost', async () => {
    const orderNo = await on.paidOrder();
    await Promise.all([
      atOnce((n) => on.refund({ orderNo, cycleNo: 1, amountCent: 30, key: `key-${n}` })),
      on.renew(),
      on.channel.call('orders/unsubscribe', { orderNo }),
    ]);
    // On a slow machine some may have been refused because others were running. Sent again with its key, none is made twice.
    for (let n = 0; n < 100; n += 1)
      await on.refund({ orderNo, cycleNo: 1, amountCent: 30, key: `key-${n}` }).catch(() => undefined);
    const order = await on.query(orderNo);
    expect(order).toMatchObject({ orderStatus: 'UNSUBSCRIBED', totalRefundAmountCent: 1980 });
    expect([1990, 3980]).toContain(order['totalPaidAmountCent']);
  });
});
