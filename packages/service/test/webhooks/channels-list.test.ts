import { describe, expect, it } from 'vitest';
import { anotherChannel } from '../orders/support.js';
import { sharedRequest, unique } from '../support/demo.js';
import {
  channel,
  createOrderWithEvents,
  createVoidedPeriods,
  database,
  expandVoidedPeriods,
  on,
  recordOutcome,
  useStage,
  whileAddressed,
} from './outcomes.js';

useStage();

const list = (body: object, by = channel) => by.call('events/list', body);
const ids = (reply: { data: { events: readonly { eventId: string }[] } }) =>
  reply.data.events.map(({ eventId }) => eventId);

describe('events/list', () => {
  it('0: the events of an order, newest first, as they were sent', async () => {
    const externalOrderNo = unique('order');
    const { orderNo, payment, order } = await createOrderWithEvents(database(), channel, { externalOrderNo });
    const { data, code } = await list({ orderNo });
    expect([code, data.page, data.size, data.hasMore]).toEqual(['0', 1, 100, false]);
    expect(data.events).toEqual([
      {
        eventId: order,
        lastEventId: null,
        eventType: 'order.status.changed',
        orderNo,
        occurredAt: '2026-01-31 12:00:00',
        deliveryStatus: 'PENDING',
        pushes: 0,
        lastPushTime: null,
        data: expect.objectContaining({ orderNo, externalOrderNo, orderStatus: 'ACTIVE', totalPaidCycles: 1 }),
      },
      expect.objectContaining({
        eventId: payment,
        eventType: 'payment.status.changed',
        data: expect.objectContaining({ orderNo, cycleNo: 1, paymentStatus: 'BILLED' }),
      }),
    ]);
    expect((await list({ externalOrderNo })).data).toEqual(data);
  });

  it('0: no personal data, even for a shared agreement whose events have the mobile', async () => {
    const { data } = await channel.call('orders/create', sharedRequest(channel));
    const listed = await list({ orderNo: data.orderNo });
    expect(listed.data.events).toHaveLength(2);
    expect(listed.text).not.toMatch(/mobile|svc_aes/i);
  });

  it('0: by delivery status, with the number of pushes', async () => {
    const other = await anotherChannel(on.service);
    const made = [];
    for (let n = 0; n < 3; n += 1) made.push(await createOrderWithEvents(database(), other));
    const [delivered = '', failing = '', givenUp = '', aside = '', fresh = '', late = ''] = made.flatMap(
      ({ payment, order }) => [payment, order],
    );
    await recordOutcome(database(), [delivered], 'ACCEPTED');
    await recordOutcome(database(), [failing], 'REFUSED');
    await recordOutcome(database(), [givenUp], 'GIVE_UP');
    await recordOutcome(database(), [aside], 'NO_CALLBACK');
    await recordOutcome(database(), [late], 'REFUSED');
    await recordOutcome(database(), [late], 'ACCEPTED');
    const expected = {
      DELIVERED: [late, delivered],
      PENDING: [fresh, failing],
      GIVE_UP: [givenUp],
      NO_CALLBACK: [aside],
    };
    for (const [deliveryStatus, wanted] of Object.entries(expected)) {
      const reply = await list({ deliveryStatus }, other);
      expect(ids(reply), deliveryStatus).toEqual(wanted);
      for (const event of reply.data.events) expect(event.deliveryStatus).toBe(deliveryStatus);
      // The same filter together with an order uses another statement, which must return the same events.
      for (const { orderNo, payment, order } of made) {
        const ofOrder = ids(await list({ orderNo, deliveryStatus }, other));
        expect(ofOrder, deliveryStatus).toEqual([order, payment].filter((id) => wanted.includes(id)));
      }
    }
    const pushes = (await list({}, other)).data.events.map((event: { pushes: number }) => event.pushes);
    expect(pushes).toEqual([2, 0, 0, 1, 1, 1]);
    const [twice] = (await list({}, other)).data.events;
    expect(twice.lastPushTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it('0: periods that were voided together are one record, given up if one of them is', async () => {
    const { orderNo, before, range } = await createVoidedPeriods(database(), channel);
    const status = async () => {
      const [record] = (await list({ orderNo })).data.events;
      const { deliveryStatus } = record;
      // The event is listed under its own status and under no other.
      for (const asked of ['DELIVERED', 'PENDING', 'GIVE_UP', 'NO_CALLBACK']) {
        const found = (await list({ deliveryStatus: asked })).data.events;
        const isThere = found.some((one: { eventId: string }) => one.eventId === record.eventId);
        expect([asked, isThere]).toEqual([asked, asked === deliveryStatus]);
      }
      return [record.eventId, record.lastEventId, deliveryStatus, record.pushes];
    };
    const periods = (...cycles: number[]) => cycles.map((cycle) => `${range}-${cycle}`);
    const named = periods(2, 7);
    expect(await status()).toEqual([...named, 'PENDING', 0]);
    await recordOutcome(database(), [`${range}-2`], 'NO_CALLBACK');
    expect(await status()).toEqual([...named, 'NO_CALLBACK', 0]);
    await channel.call('events/replay', { eventIds: [range] });
    expect(await status()).toEqual([...named, 'PENDING', 0]);
    await expandVoidedPeriods(database(), `${range}-2`);
    await recordOutcome(database(), periods(2, 3, 4), 'ACCEPTED');
    expect(await status()).toEqual([...named, 'PENDING', 3]);
    await recordOutcome(database(), [`${range}-5`], 'NO_CALLBACK');
    await recordOutcome(database(), [`${range}-6`], 'GIVE_UP');
    expect(await status()).toEqual([...named, 'GIVE_UP', 4]);
    await channel.call('events/replay', { eventIds: [`${range}-6`] });
    expect(await status()).toEqual([...named, 'NO_CALLBACK', 4]);
    await channel.call('events/replay', { eventIds: [`${range}-5`] });
    await recordOutcome(database(), periods(5, 6, 7), 'ACCEPTED');
    expect(await status()).toEqual([...named, 'DELIVERED', 7]);
    expect(ids(await list({ orderNo }))).toEqual([`${range}-2`, ...before.toReversed()]);
  });

  it('0: by type and by time of writing, in both time formats', async () => {
    const other = await anotherChannel(on.service);
    const { payment, order } = await createOrderWithEvents(database(), other);
    const moment = '2026-03-01T00:00:00Z';
    await whileAddressed(database(), other, () =>
      database().query(
        `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
         select channel_id, order_no, event_type, occurred_at, data, $2 from events where event_no = $1`,
        [payment, moment],
      ),
    );
    const [old = ''] = ids(await list({ to: '2026-03-02 00:00:00' }, other));
    expect(ids(await list({ from: '2026-03-02 00:00:00' }, other))).toEqual([order, payment]);
    for (const [range, isIn] of [
      [{ from: '2026-03-01 08:00:00', to: '2026-03-01 08:00:01' }, true],
      [{ from: '2026-03-01T00:00:00Z', to: '2026-03-01T01:00:01+01:00' }, true],
      [{ from: '2026-03-01T08:00:00', to: '2026-03-01T08:00:01' }, true],
      [{ from: '2026-03-01 08:00:01', to: '2026-03-02 00:00:00' }, false],
      [{ from: '2026-02-01 00:00:00', to: '2026-03-01 08:00:00' }, false],
      [{ from: '2026-03-02 00:00:00', to: '2026-03-01 00:00:00' }, false],
      // In UTC the first of these two time ranges begins in year 0, and the second ends in year 0. PostgreSQL has no
      // year 0.
      [{ from: '0001-01-01 00:00:00', to: '2026-03-02 00:00:00' }, true],
      [{ from: '0000-01-01 00:00:00', to: '0001-01-01 00:00:00' }, false],
    ] as const) {
      expect([range, ids(await list(range, other))]).toEqual([range, isIn ? [old] : []]);
      expect(ids(await list({ ...range, deliveryStatus: 'PENDING' }, other))).toEqual(isIn ? [old] : []);
    }
    expect(ids(await list({ eventType: 'order.status.changed' }, other))).toEqual([order]);
    await recordOutcome(database(), [payment, order, old], 'GIVE_UP');
    const givenUp = { deliveryStatus: 'GIVE_UP', eventType: 'payment.status.changed' };
    expect(ids(await list(givenUp, other))).toEqual([payment, old]);
    expect(ids(await list({ ...givenUp, to: '2026-03-02 00:00:00' }, other))).toEqual([old]);
  });

  it('0: no events of another channel, and 420001 for its orders', async () => {
    const { orderNo } = await createOrderWithEvents(database(), channel);
    const other = await anotherChannel(on.service);
    expect((await list({}, other)).data.events).toEqual([]);
    for (const asked of [{ orderNo }, { orderNo: '1' }, { orderNo: 'abc' }, { externalOrderNo: 'none' }]) {
      expect(await list(asked, other)).toMatchObject({ code: '420001', data: null });
    }
  });
});
