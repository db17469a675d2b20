import { MAX_TOTAL_CYCLES } from '@perennial/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { later, ofEachTest } from '../orders/stage-of-file.js';
import { dailyProduct, stage } from '../orders/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';
import { manualClock } from '../support/service.js';
import { registerReceiver, sendingNodeOf, statusIn, withLongDeadline } from './sending.js';

const clock = manualClock(Date.now() + 3_600_000);
const scene = ofEachTest(() => stage());
const service = later(() => scene.service);
const node = sendingNodeOf(ofEachTest, service, () => ({ dueBy: clock, ...withLongDeadline() }));
const receiver = ofEachTest(() => registerReceiver(scene.service, scene.channel));
beforeEach(async () => {
  await dailyProduct(scene.service, 'LONGEST', MAX_TOTAL_CYCLES);
  await dailyProduct(scene.service, 'LONG', 250);
});

const query = <Row>(sql: string) => scene.service.fresh.database.query<Row>(sql);
const due = () =>
  query<{ cycle_no: number; cycle_to: number | null }>('select cycle_no, cycle_to from due_events order by cycle_no');

async function unsubscribed(request: object): Promise<string> {
  const { data } = await scene.channel.call('orders/create', request);
  await node.turn();
  await scene.channel.call('orders/unsubscribe', { orderNo: data.orderNo });
  return data.orderNo;
}
const canceled = (orderNo: string) =>
  receiver.pushes.filter((push) => push.data.orderNo === orderNo && statusIn(push) === 'CANCELED');

describe('periods that are voided together', () => {
  it('9,999 of them are one row, of which a hundred become rows when they are due', async () => {
    const orderNo = await unsubscribed(collectRequest(scene.channel, { productCode: 'LONGEST' }));
    expect(await due()).toEqual([
      { cycle_no: 0, cycle_to: null },
      { cycle_no: 2, cycle_to: 9_999 },
    ]);
    // The push of the first voided period hangs, and the other periods wait for it.
    receiver.answer((push) => (statusIn(push) === 'CANCELED' ? 'hang' : 'accept'));
    await node.balance();
    await node.read();
    await receiver.until(() => canceled(orderNo).length === 1);
    const rows = (await due()).filter(({ cycle_no }) => cycle_no > 0);
    expect(rows.filter(({ cycle_to }) => cycle_to === null)).toHaveLength(100);
    expect(rows.at(-1)).toEqual({ cycle_no: 102, cycle_to: 9_999 });
  });

  it('each has its own eventId, paymentOrderNo, cycleNo and expectPayTime, in the order of the periods', async () => {
    const orderNo = await unsubscribed(sharedRequest(scene.channel, { productCode: 'LONG' }));
    await node.turn();
    const pushes = canceled(orderNo);
    expect(pushes.map(({ data }) => data.cycleNo)).toEqual(Array.from({ length: 249 }, (_, index) => index + 2));
    const [first] = pushes;
    const eventNo = first?.eventId.split('-')[0];
    for (const { eventId, data } of pushes) {
      expect(eventId).toBe(`${eventNo}-${data.cycleNo}`);
      expect(data.paymentOrderNo).toBe(`${orderNo}${String(data.cycleNo).padStart(4, '0')}`);
    }
    // The order was created on 31 January 2026 at noon.
    expect(pushes.map(({ data }) => data.expectPayTime).slice(0, 2)).toEqual([
      '2026-02-01 12:00:00',
      '2026-02-02 12:00:00',
    ]);
    expect(pushes.at(-1)?.data).toMatchObject({
      expectPayTime: '2026-10-07 12:00:00',
      paymentStatus: 'CANCELED',
      paidAt: null,
      amountCent: 100,
      agreementShareFlag: true,
    });
    expect(await due()).toEqual([]);
    expect(receiver.forged).toEqual([]);
  });

  it('a failed one is retried alone', async () => {
    const orderNo = await unsubscribed(collectRequest(scene.channel, { productCode: 'LONG' }));
    receiver.answer((push) => (push.data.cycleNo === 120 && push.retryNo === 0 ? 'refuse' : 'accept'));
    await node.turn();
    expect(canceled(orderNo)).toHaveLength(249);
    expect(await due()).toEqual([{ cycle_no: 120, cycle_to: null }]);
    clock.advance(30_000);
    await node.turn();
    expect(canceled(orderNo).slice(249)).toMatchObject([{ retryNo: 1, data: { cycleNo: 120 } }]);
    expect(await due()).toEqual([]);
  });

  it('a channel without an address: they are set aside as one row', async () => {
    await setCallback(scene.service.operator, { appId: scene.channel.credentials.appId });
    await unsubscribed(collectRequest(scene.channel, { productCode: 'LONG' }));
    await node.turn();
    expect(await query('select cycle_no, cycle_to, reason from undelivered_events where cycle_to is not null')).toEqual(
      [{ cycle_no: 2, cycle_to: 250, reason: 'NO_CALLBACK' }],
    );
    expect(await due()).toEqual([]);
  });
});
