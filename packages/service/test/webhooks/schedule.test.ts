import { beforeAll, describe, expect, it } from 'vitest';
import { replayNamedEvents } from '../../src/operator/events/events.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { alerts } from '../orders/support.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { manualClock } from '../support/service.js';
import { registerReceiver, sendingNodeOf } from './sending.js';

/** Seconds from the end of each push to the next push. */
const DELAYS = [30, 60, 120, 240, 480, 960, 1800, 1800, 1800, 1800];
/**
 * The interval at which a node reads the queue again from the start. Only then does it find rows that are behind the
 * test's clock, such as replayed events.
 */
const READ_FROM_START = 300_000;

/**
 * The node's clock, at least an hour ahead of the database's clock. Events are written and replayed by the database's
 * clock.
 */
const clock = manualClock(Date.now() + 3_600_000);
/** The duration of each push. */
let pushMs = 0;

const { service, channel } = serviceOfFile({}, demoChannel);
const receiver = ofFile(() =>
  registerReceiver(service, channel, {
    eventType: 'payment.status.changed',
    answer: () => {
      clock.advance(pushMs);
      return 'refuse';
    },
  }),
);
const node = sendingNodeOf(ofFile, service, () => ({ dueBy: clock }));
let orderNo: string;
beforeAll(async () => {
  orderNo = (await channel.call('orders/create', collectRequest(channel))).data.orderNo;
});

const query = <Row>(sql: string) => service.fresh.database.query<Row>(sql);

/** Sends the pushes that are due at the current time of the clock. Returns their retry numbers. */
async function pushesNow(): Promise<number[]> {
  const from = receiver.pushes.length;
  await node.turn();
  return receiver.pushes.slice(from).map(({ retryNo }) => retryNo);
}

/**
 * Advances the clock to each retry. Checks that there is no push one second before the retry is due, and one push when
 * it is due.
 */
async function throughSchedule(firstRetryNo: number): Promise<void> {
  for (const [index, seconds] of DELAYS.entries()) {
    clock.advance((seconds - 1) * 1000);
    expect(await pushesNow(), `${seconds - 1} s after push ${index + 1}`).toEqual([]);
    clock.advance(1000);
    expect(await pushesNow(), `${seconds} s after push ${index + 1}`).toEqual([firstRetryNo + index]);
  }
}

async function expectGivenUp(retryNo: number, seen: number): Promise<void> {
  clock.advance(24 * 3_600_000);
  expect(await pushesNow()).toEqual([]);
  expect(await query('select * from due_events')).toEqual([]);
  expect(await query(`select reason, retry_no from undelivered_events where is_payment`)).toEqual([
    { reason: 'GIVE_UP', retry_no: retryNo },
  ]);
  expect(await query('select kind, subject, seen from alerts')).toEqual([
    { kind: 'webhook-given-up', subject: 'test_demo', seen },
  ]);
}

async function replay(): Promise<void> {
  const [event] = await query<{ id: string }>(`select event_no::text as id from events where cycle_no is not null`);
  await replayNamedEvents(service.operator, { appId: 'test_demo', eventIds: [event?.id ?? ''] });
  clock.advance(READ_FROM_START);
}

describe('an event that is never accepted', () => {
  it('is pushed at once, and ten times more, each to the second after the previous one', async () => {
    expect(await pushesNow()).toEqual([0]);
    await throughSchedule(1);
  });

  it('is then given up, with an alert', async () => {
    await expectGivenUp(10, 1);
    expect((await alerts(service.fresh.database))[0]?.detail).toBe('1 events given up together');
  });

  it('is pushed again by a replay: the schedule restarts, retryNo continues', async () => {
    await replay();
    expect(await pushesNow()).toEqual([11]);
    // The delay counts from the end of a push, not from its start.
    pushMs = 4_000;
    await throughSchedule(12);
    pushMs = 0;
    await expectGivenUp(21, 2);
  });

  it('is delivered when it is finally accepted, and leaves the queue', async () => {
    await replay();
    receiver.answer('accept');
    expect(await pushesNow()).toEqual([22]);
    clock.advance(24 * 3_600_000);
    expect(await pushesNow()).toEqual([]);
    expect(await query('select * from due_events')).toEqual([]);
    expect(await query('select * from undelivered_events where is_payment')).toEqual([]);
  });

  it('had the same eventId and data each time, and each push its own signature, timestamp and nonce', async () => {
    expect(receiver.forged).toEqual([]);
    expect(receiver.pushes).toHaveLength(23);
    expect(new Set(receiver.pushes.map(({ eventId, data }) => JSON.stringify([eventId, data]))).size).toBe(1);
    expect(new Set(receiver.pushes.map(({ nonce }) => nonce)).size).toBe(23);
    expect(receiver.pushes[0]?.data.orderNo).toBe(orderNo);
  });

  it('has every push in its history', async () => {
    const pushes = await query<{ retry_no: number; outcome: string; http_status: number }>(
      'select retry_no, outcome, http_status from delivery_attempts order by at, retry_no',
    );
    expect(pushes.map(({ retry_no }) => retry_no)).toEqual(Array.from({ length: 23 }, (_, index) => index));
    expect(pushes.map(({ outcome }) => outcome)).toEqual([...Array.from({ length: 22 }, () => 'REFUSED'), 'ACCEPTED']);
  });
});
