import { afterEach, describe, expect, it } from 'vitest';
import { demoOfEachTest } from '../orders/stage-of-file.js';
import { collectRequest } from '../support/demo.js';
import { until } from '../support/processes.js';
import { manualClock } from '../support/service.js';
import type { ReceivedPush, TestReceiver } from './receiver.js';
import {
  createSendingNode,
  type DatabaseFaults,
  registerReceiver,
  type SendingNode,
  statusIn,
  withLongDeadline,
} from './sending.js';

const { service, channel } = demoOfEachTest();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

const opened = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};
const receiverAt = async (options: Parameters<typeof registerReceiver>[2] = {}): Promise<TestReceiver> =>
  opened(await registerReceiver(service, channel, options));
const nodeWith = (
  ...more: Parameters<typeof createSendingNode> extends [unknown, ...infer Rest] ? Rest : never
): SendingNode => opened(createSendingNode(service, ...more));

const create = async (): Promise<string> => (await channel.call('orders/create', collectRequest(channel))).data.orderNo;
const about = ({ pushes }: TestReceiver, orderNo: string): string[] =>
  pushes.filter(({ data }) => data.orderNo === orderNo).map(statusIn);
const isPayment = ({ eventType }: ReceivedPush) => eventType === 'payment.status.changed';
const once = ({ pushes }: TestReceiver) =>
  expect(new Set(pushes.map(({ eventId }) => eventId)).size).toBe(pushes.length);

describe('one address', () => {
  it('the events of an order are sent one after another; those of other orders do not wait', async () => {
    const receiver = await receiverAt({ answer: (push) => (isPayment(push) ? 'hang' : 'accept') });
    const node = nodeWith(withLongDeadline());
    const orders = await Promise.all(Array.from({ length: 5 }, create));
    await node.balance();
    await node.read();
    await receiver.until(5);
    // None of the five pushes has been answered, so no second event of an order may be sent yet.
    expect(receiver.pushes.every(isPayment)).toBe(true);
    expect(new Set(receiver.pushes.map(({ data }) => data.orderNo))).toEqual(new Set(orders));
    receiver.server.closeAllConnections();
    await node.untilQuiet();
    for (const orderNo of orders) expect(about(receiver, orderNo)).toEqual(['BILLED', 'ACTIVE']);
  });

  it('more events than a lane holds: each once, each in order', async () => {
    const receiver = await receiverAt();
    const node = nodeWith();
    const orderNo = await create();
    await node.turn();
    await service.fresh.database.query(
      `insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
       select e.channel_id, n / 2, e.event_type, e.cycle_no, e.occurred_at, e.data
       from generate_series(2, 5401) n join events e on e.order_no = $1 and (e.cycle_no is null) = (n % 2 = 1) order by n`,
      [orderNo],
    );
    const written = await service.fresh.database.query<{ id: string }>(
      'select event_no::text as id from events where order_no <> $1 order by order_no, event_no',
      [orderNo],
    );
    await node.turn();
    expect(receiver.pushes).toHaveLength(5_402);
    once(receiver);
    const place = new Map(receiver.pushes.map(({ eventId }, index) => [eventId, index]));
    for (let index = 0; index < written.length; index += 2) {
      const [first, second] = written.slice(index, index + 2).map(({ id }) => place.get(id) ?? -1);
      expect(first).toBeLessThan(second ?? 0);
    }
  });
});

describe('an order of very many events', () => {
  /** Inserts `count` events of one order, one after another. */
  const record = (orderNo: number, count: number) =>
    service.fresh.database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data)
       select channel_id, $2::bigint, 'order.status.changed', now(), '{"orderNo":"' || $2::bigint || '","place":' || n || '}'
       from channels, generate_series(1, $3) n where app_id = $1`,
      [channel.credentials.appId, orderNo, count],
    );

  it.each([300, 6_000])('%i that wait for the first: the events of other orders are sent meanwhile', async (count) => {
    const receiver = await receiverAt({ answer: ({ data }) => (data.orderNo === '1' ? 'hang' : 'accept') });
    const node = nodeWith(withLongDeadline());
    const places = (orderNo: number) =>
      receiver.pushes.filter(({ data }) => data.orderNo === String(orderNo)).map(({ data }) => data.place);
    await record(1, count);
    for (let orderNo = 2; orderNo <= 201; orderNo += 1) await record(orderNo, 2);
    await node.balance();
    while (await node.read());
    await receiver.until(401).finally(node.keepLease().end);
    expect(places(1)).toEqual([1]);
    for (let orderNo = 2; orderNo <= 201; orderNo += 1) expect(places(orderNo)).toEqual([1, 2]);
  });

  it('all are sent in order, each once, and later events come after the voided periods', async () => {
    const receiver = await receiverAt();
    const orderNo = Number(await create());
    await record(orderNo, 700);
    await service.fresh.database.query(
      `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
       select channel_id, order_no, event_type, 2, 301, occurred_at, data from events
       where order_no = $1 and event_type = 'payment.status.changed'`,
      [orderNo],
    );
    await record(orderNo, 100);
    await nodeWith().turn();
    expect(receiver.pushes).toHaveLength(2 + 700 + 300 + 100);
    const numbers = receiver.pushes.map(({ eventId }) => eventId.split('-').map(Number));
    expect(numbers).toEqual(numbers.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
    once(receiver);
  });
});

describe('reading', () => {
  it('late commits are found, although later events were read before', async () => {
    const clock = manualClock(Date.now() + 3_600_000);
    const receiver = await receiverAt();
    const node = nodeWith({ dueBy: clock });
    const first = await create();
    let late = '';
    await service.fresh.database.transaction(async (tx) => {
      const [row] = await tx.query<{ id: string }>(
        `insert into events (channel_id, order_no, event_type, occurred_at, data)
         select channel_id, order_no, event_type, occurred_at, data from events where order_no = $1 and cycle_no is null
         returning event_no::text as id`,
        [first],
      );
      late = row?.id ?? '';
      const second = await create();
      await node.turn();
      expect(about(receiver, second)).toEqual(['BILLED', 'ACTIVE']);
    });
    clock.advance(300_000);
    await node.turn();
    expect(receiver.pushes.map(({ eventId }) => eventId)).toContain(late);
    once(receiver);
  });

  it('events that are finished during a read are not sent again', async () => {
    const faults: DatabaseFaults = {};
    const receiver = await receiverAt({ answer: 'hang' });
    const clock = manualClock(Date.now() + 3_600_000);
    const node = nodeWith({ ...withLongDeadline(), dueBy: clock }, faults);
    await create();
    await node.balance();
    await node.read();
    await receiver.until(1);
    receiver.answer('accept');
    // While the push is in flight, the next read begins again at the start of the queue. That read ends after the
    // push's outcome was stored.
    faults.around = async (statement, run) => {
      const result = await run();
      if (statement === 'read-due-events') {
        receiver.server.closeAllConnections();
        await until('an attempt', async () => (await attempts()).length === 2);
        await node.untilQuiet();
      }
      return result;
    };
    clock.advance(300_000);
    await node.read();
    delete faults.around;
    await node.turn();
    expect(receiver.pushes.map(({ retryNo }) => retryNo)).toEqual([0, 0]);
    once(receiver);
  });

  it('a database outage: nothing is lost, and nothing is sent twice', async () => {
    const refused: string[] = [];
    const faults: DatabaseFaults = { refused };
    const receiver = await receiverAt({
      answer: () => {
        faults.away = true;
        return 'accept';
      },
    });
    const node = nodeWith({}, faults);
    const orders = await Promise.all(Array.from({ length: 30 }, create));
    await node.balance();
    await node.read();
    await until('an outcome that cannot be written down', () => refused.includes('finish-deliveries'));
    await expect(node.read()).rejects.toThrow('away');
    receiver.answer('accept');
    faults.away = false;
    await until('everything', async () => {
      await node.turn();
      return receiver.pushes.length >= 60;
    });
    for (const orderNo of orders) expect(about(receiver, orderNo)).toEqual(['BILLED', 'ACTIVE']);
    once(receiver);
    expect(await service.fresh.database.query('select * from due_events')).toEqual([]);
  });
});

const attempts = () => service.fresh.database.query('select * from delivery_attempts');
