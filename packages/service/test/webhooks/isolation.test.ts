import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ofEachTest } from '../orders/stage-of-file.js';
import type { ChannelClient } from '../support/channel-client.js';
import { until } from '../support/processes.js';
import { manualClock, testService } from '../support/service.js';
import type { ReceiverOptions, TestReceiver } from './receiver.js';
import {
  createSendingNode,
  type DatabaseFaults,
  registerReceiver,
  sendingNodeOf,
  withLongDeadline,
} from './sending.js';

const service = ofEachTest(() => testService());
/** All events are due. No retry becomes due, however long a test takes. */
const dueBy = manualClock(Date.now() + 3_600_000);
const faults: DatabaseFaults = {};
const node = sendingNodeOf(ofEachTest, service, () => ({ dueBy, ...withLongDeadline() }), faults);
let receivers: TestReceiver[];
beforeEach(() => {
  receivers = [];
});
afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  expect(receivers.flatMap(({ forged }) => forged)).toEqual([]);
});

interface Line {
  readonly channel: ChannelClient;
  readonly receiver: TestReceiver;
}

async function line(options: ReceiverOptions & { readonly eventType?: string } = {}): Promise<Line> {
  const channel = await service.channel();
  const receiver = await registerReceiver(service, channel, options);
  receivers.push(receiver);
  return { channel, receiver };
}

/** Inserts an event for each of `count` orders of a channel, in one statement. */
async function record(
  { credentials }: ChannelClient,
  count: number,
  eventType = 'order.status.changed',
): Promise<void> {
  await service.fresh.database.query(
    `insert into events (channel_id, order_no, event_type, occurred_at, data)
     select channel_id, n, $3, now(), '{"orderNo":"' || n || '","cycleNo":1}' from channels, generate_series(1, $2) n where app_id = $1`,
    [credentials.appId, count, eventType],
  );
}

/** Returns how many pushes to a channel had each outcome so far, and the number of waiting events. */
async function ledger({ channel }: Line): Promise<Record<string, number>> {
  const rows = await service.fresh.database.query<{ outcome: string; count: number }>(
    `select outcome::text, count(*) from delivery_attempts join channels using (channel_id) where app_id = $1 group by 1
     union all
     select 'waiting', count(*) from due_events join channels using (channel_id) where app_id = $1 having count(*) > 0`,
    [channel.credentials.appId],
  );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}

const distinct = ({ receiver }: Line) => new Set(receiver.pushes.map(({ eventId }) => eventId)).size;

describe('receivers that hang', () => {
  it('in every way do not delay the others', async () => {
    const hung = await line({ answer: 'hang' });
    const trickling = await line({ answer: 'trickle' });
    const huge = await line({ answer: 'huge' });
    const resetting = await line({ answer: 'reset' });
    const gone = await line();
    await gone.receiver.close();
    const healthy = [await line(), await line(), await line()];
    // Records the events of the faulty receivers before the events of the healthy receivers, so that the faulty
    // receivers come first.
    for (const { channel } of [hung, trickling, huge, resetting, gone]) await record(channel, 100);
    for (const { channel } of healthy) await record(channel, 500);

    const turn = node.turn();
    await Promise.all(healthy.map(({ receiver }) => receiver.until(500)));
    // All events of the healthy receivers have arrived, while the hanging receivers made no progress.
    expect([hung, trickling].map(({ receiver }) => receiver.pushes.length)).toEqual([8, 8]);
    expect(await ledger(hung)).toEqual({ waiting: 100 });
    expect(await ledger(trickling)).toEqual({ waiting: 100 });

    await hung.receiver.close();
    await trickling.receiver.close();
    await turn;
    for (const one of healthy) {
      expect(await ledger(one)).toEqual({ ACCEPTED: 500 });
      expect([one.receiver.pushes.length, distinct(one)]).toEqual([500, 500]);
    }
    // Each event of the other receivers was attempted one time and waits for its retry.
    expect(await ledger(huge)).toEqual({ REFUSED: 100, waiting: 100 });
    for (const one of [hung, resetting, gone]) expect(await ledger(one)).toEqual({ UNREACHABLE: 100, waiting: 100 });
    expect(await ledger(trickling)).toMatchObject({ waiting: 100 });
  });

  it('take no more places than PUSHES_PER_ADDRESS allows', async () => {
    const [hung, healthy] = [await line({ answer: 'hang' }), await line()];
    await record(hung.channel, 100);
    await record(healthy.channel, 500);
    const wide = createSendingNode(service, { dueBy, ...withLongDeadline(), pushesPerAddress: 20 });
    const turn = wide.turn();
    await healthy.receiver.until(500);
    await hung.receiver.until(20);
    expect(hung.receiver.pushes.length).toBe(20);
    await hung.receiver.close();
    await turn;
    await wide.stop();
  });

  it('in great number do not delay the others', async () => {
    const hung = await Promise.all(Array.from({ length: 40 }, () => line({ answer: 'hang' })));
    const healthy = await line();
    for (const { channel } of hung) await record(channel, 10);
    await record(healthy.channel, 500);

    const turn = node.turn();
    await healthy.receiver.until(500);
    await Promise.all(hung.map(({ receiver }) => receiver.until(8)));
    expect(hung.map(({ receiver }) => receiver.pushes.length)).toEqual(hung.map(() => 8));
    for (const one of hung) expect(await ledger(one)).toEqual({ waiting: 10 });
    await Promise.all(hung.map(({ receiver }) => receiver.close()));
    await turn;
    expect(await ledger(healthy)).toEqual({ ACCEPTED: 500 });
  });

  it('at one address of a channel do not delay its other address', async () => {
    const payments = await line({ answer: 'hang', eventType: 'payment.status.changed' });
    const orders = await registerReceiver(service, payments.channel, { eventType: 'order.status.changed' });
    receivers.push(orders);
    await record(payments.channel, 100, 'payment.status.changed');
    await record(payments.channel, 100);

    const turn = node.turn();
    await orders.until(100);
    expect(payments.receiver.pushes).toHaveLength(8);
    await payments.receiver.close();
    await turn;
    expect(orders.pushes.map(({ eventType }) => eventType)).toEqual(Array(100).fill('order.status.changed'));
  });

  it('and recover get the events that they missed', async () => {
    const one = await line({ answer: 'hang' });
    await record(one.channel, 50);
    const turn = node.turn();
    await one.receiver.until(8);
    one.receiver.answer('accept');
    // Cuts the hanging connections, as a restart of the receiver would.
    one.receiver.server.closeAllConnections();
    await turn;
    expect(await ledger(one)).toEqual({ ACCEPTED: 42, UNREACHABLE: 8, waiting: 8 });
    await service.fresh.database.query('update due_events set next_at = now()');
    await node.turn();
    expect(await ledger(one)).toEqual({ ACCEPTED: 50, UNREACHABLE: 8 });
    expect(distinct(one)).toBe(50);
  });
});

it('events whose read failed are sent after the next read', async () => {
  const one = await line();
  await record(one.channel, 50);
  let reads = 0;
  faults.around = async (statement, run) => {
    if (statement === 'read-events-to-send' && reads++ === 0) throw new Error('test fault');
    return run();
  };
  await node.turn().finally(() => delete faults.around);
  expect(reads).toBeGreaterThan(1);
  expect(await ledger(one)).toEqual({ ACCEPTED: 50 });
});

it('events that waited for the lease are sent when it is renewed, without another read', async () => {
  const one = await line({ answer: 'hang' });
  await record(one.channel, 50);
  await node.balance();
  while (await node.read());
  await one.receiver.until(8);
  // Moves the node's clock past the time until which it may send.
  const realNow = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 5_000);
  try {
    one.receiver.answer('accept');
    one.receiver.server.closeAllConnections();
    await until('eight outcomes', async () => (await ledger(one))['UNREACHABLE'] === 8);
    expect(one.receiver.pushes).toHaveLength(8);
    await node.balance();
    await one.receiver.until(50);
    await node.untilQuiet();
  } finally {
    clock.mockRestore();
  }
  expect(await ledger(one)).toEqual({ ACCEPTED: 42, UNREACHABLE: 8, waiting: 8 });
});

describe('a channel with a backlog of 20,000 events', () => {
  const MANY = 20_000;

  it.each([
    ['hangs', 'hang', 8],
    ['accepts them one after another', 'accept', MANY - 1],
  ] as const)('whose receiver %s does not hold up one with a single event', async (_how, answer, most) => {
    const large = await line({ answer });
    const small = await line();
    await record(large.channel, MANY);
    await record(small.channel, 1);

    const lease = node.keepLease();
    await node.balance();
    while (await node.read());
    await small.receiver.until(1).finally(lease.end);
    expect(large.receiver.pushes.length).toBeLessThanOrEqual(most);
    expect(large.receiver.pushes.length).toBe(distinct(large));
  });
});
