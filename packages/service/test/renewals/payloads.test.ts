import { describe, expect, it } from 'vitest';
import { stageOfFile } from '../orders/stage-of-file.js';
import { eventsOf } from '../orders/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';

const { on: scene, told } = stageOfFile();

/** A text with escapes, quotes and characters beyond the basic plane. Hand-written JSON code often gets them wrong. */
const STRANGE = 'a"b\\c/\u0001\u001f\t\n😀é\u2028\u007f';

const without = (record: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

describe('events that are written in SQL', () => {
  it("mode B: the same fields, in the same order, as in the creation's events", async () => {
    const names = { externalOrderNo: `order ${STRANGE}`, channelUserId: `user ${STRANGE}` };
    const request = collectRequest(scene.channel, { ...names, productCode: 'TEST_SPU_DAILY_7' });
    const { data } = await scene.channel.call('orders/create', request);
    while ((await scene.renew()) > 0);
    const events = await eventsOf(scene.service.fresh.database, data.orderNo);
    expect(await told(data.orderNo)).toEqual([
      'BILLED',
      'ACTIVE',
      ...Array.from({ length: 6 }, () => 'BILLED'),
      'COMPLETED',
    ]);
    const [billed, active] = events;
    const completed = events.at(-1);
    for (const event of events.slice(2, -1)) {
      expect(Object.keys(event.data)).toEqual(Object.keys(billed?.data ?? {}));
      expect(without(event.data, 'cycleNo', 'paymentOrderNo', 'expectPayTime', 'paidAt')).toEqual(
        without(billed?.data ?? {}, 'cycleNo', 'paymentOrderNo', 'expectPayTime', 'paidAt'),
      );
    }
    expect(Object.keys(completed?.data ?? {})).toEqual(Object.keys(active?.data ?? {}));
    expect(completed?.data).toEqual({
      ...active?.data,
      orderStatus: 'COMPLETED',
      totalPaidAmountCent: 700,
      totalPaidCycles: 7,
      nextPayTime: null,
    });
  });

  it('mode A, a retry that came too late: the same as for the previous attempt, but FAIL', async () => {
    const names = { externalOrderNo: `late ${STRANGE}`, channelUserId: `late user ${STRANGE}` };
    const { data } = await scene.channel.call('orders/create', sharedRequest(scene.channel, names));
    const { orderNo } = data;
    await scene.channel.call('sandbox/orders/advance', { orderNo, cycles: 1, outcomes: ['FAIL_RETRY'] });
    await scene.renew();
    const [, , tried, failed] = await eventsOf(scene.service.fresh.database, orderNo);
    expect(tried?.data).toMatchObject({ paymentStatus: 'FAIL_RETRY', cycleNo: 2, paidAt: null });
    expect(JSON.stringify(failed?.data)).toBe(JSON.stringify({ ...tried?.data, paymentStatus: 'FAIL' }));
  });
});
