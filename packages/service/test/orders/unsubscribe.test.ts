import { describe, expect, it } from 'vitest';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { stageOfFile } from './stage-of-file.js';
import { dailyProduct, eventsOf } from './support.js';

const { service, channel, sql, create, found, told } = stageOfFile();

const unsubscribe = (body: object, options = {}) => channel.call('orders/unsubscribe', body, options);
const statuses = (order: { paymentRecords: readonly { paymentStatus: string }[] }) =>
  order.paymentRecords.map(({ paymentStatus }) => paymentStatus);

describe('orders/unsubscribe, by the state of the order', () => {
  it.each([
    ['mode A', 'SUCCESS', () => sharedRequest(channel)],
    ['mode B', 'BILLED', () => collectRequest(channel)],
  ])('0: ACTIVE in %s: ended at once, paid periods stay, all others are CANCELED', async (_mode, kept, ask) => {
    const before = await create(ask());
    const at = service.clock.now();
    service.clock.advance(61_000);
    const reply = await unsubscribe({ orderNo: before.orderNo });
    service.clock.set(at);
    expect(reply.code, reply.text).toBe('0');
    expect(reply.data).toEqual({
      ...before,
      orderStatus: 'UNSUBSCRIBED',
      nextPayTime: null,
      unsubscribeTime: '2026-01-31 12:01:01',
      redeemUrl: null,
      paymentRecords: before.paymentRecords.map((one: { cycleNo: number }) =>
        one.cycleNo === 1 ? one : { ...one, paymentStatus: 'CANCELED' },
      ),
    });
    expect(statuses(reply.data)).toEqual([kept, ...Array(11).fill('CANCELED')]);
    expect(await found(before.orderNo)).toEqual(reply.data);
    expect(await sql(`select status from benefits where order_no = $1`, [before.orderNo])).toEqual([
      { status: 'ISSUED' },
      { status: 'ISSUED' },
    ]);
    const [stored] = await sql<{ due: string | null }>('select next_due_at as due from orders where order_no = $1', [
      before.orderNo,
    ]);
    expect(stored).toEqual({ due: null });
  });

  it("0: ACTIVE in its last period: nothing is voided, only the order's event is sent", async () => {
    await dailyProduct(service, 'ONE_DAY', 1);
    const { orderNo } = await create(collectRequest(channel, { productCode: 'ONE_DAY' }));
    const { data } = await unsubscribe({ orderNo });
    expect(statuses(data)).toEqual(['BILLED']);
    expect(await told(orderNo)).toEqual(['BILLED', 'ACTIVE', 'UNSUBSCRIBED']);
  });

  it('0: UNSUBSCRIBED: the same answer as the first time, and no event', async () => {
    const { orderNo } = await create(sharedRequest(channel));
    const first = await unsubscribe({ orderNo, reason: 'the first reason' });
    const at = service.clock.now();
    service.clock.advance(3_600_000);
    const again = await unsubscribe({ orderNo, reason: 'another reason' });
    service.clock.set(at);
    expect(again.code).toBe('0');
    expect(again.data).toEqual(first.data);
    expect(await told(orderNo)).toEqual(['SUCCESS', 'ACTIVE', 'UNSUBSCRIBED', 'CANCELED']);
    expect(await sql('select unsubscribe_reason from orders where order_no = $1', [orderNo])).toEqual([
      { unsubscribe_reason: 'the first reason' },
    ]);
  });
});

describe('orders/unsubscribe, the events', () => {
  it('the order first, then all voided periods as one row with the first and the last period', async () => {
    const request = sharedRequest(channel);
    const { orderNo } = await create(request);
    const at = service.clock.now();
    service.clock.advance(5000);
    await unsubscribe({ externalOrderNo: request.externalOrderNo });
    service.clock.set(at);
    const events = await eventsOf(service.fresh.database, orderNo);
    expect(events.slice(2)).toMatchObject([
      {
        event_type: 'order.status.changed',
        cycle_no: null,
        cycle_to: null,
        data: { orderNo, orderStatus: 'UNSUBSCRIBED', latestPaymentStatus: 'SUCCESS', nextPayTime: null },
      },
      {
        event_type: 'payment.status.changed',
        cycle_no: 2,
        cycle_to: 12,
        data: {
          orderNo,
          paymentOrderNo: `${orderNo}0002`,
          expectPayTime: '2026-02-28 12:00:00',
          paymentStatus: 'CANCELED',
        },
      },
    ]);
    expect(
      await sql(`select distinct occurred_at = '2026-01-31 12:00:05' as then from events where order_no = $1`, [
        orderNo,
      ]),
    ).toHaveLength(2);
  });
});

describe('orders/unsubscribe, the request', () => {
  it('0: the reason is stored with its source; it may be absent or empty', async () => {
    for (const [given, kept] of [
      [{ reason: '太贵了' }, '太贵了'],
      [{ reason: '' }, ''],
      [{}, null],
    ] as const) {
      const { orderNo } = await create(collectRequest(channel));
      const reply = await unsubscribe({ orderNo, ...given });
      expect(reply.code).toBe('0');
      expect(reply.text).not.toContain('太贵了');
      expect(
        await sql('select unsubscribe_source, unsubscribe_reason from orders where order_no = $1', [orderNo]),
      ).toEqual([{ unsubscribe_source: 'CHANNEL', unsubscribe_reason: kept }]);
    }
  });
});
