import { beforeEach, expect, it } from 'vitest';
import { pauseEvents, replayNamedEvents, resumeEvents } from '../../src/operator/events/events.js';
import { demoOfEachTest, ofEachTest } from '../orders/stage-of-file.js';
import { lockWaits } from '../support/database.js';
import { until } from '../support/processes.js';
import { createOrderWithEvents, listDueEvents } from './outcomes.js';
import { type DatabaseFaults, registerReceiver, sendingNodeOf, statusIn, withLongDeadline } from './sending.js';

const appId = 'test_demo';
const { service, channel } = demoOfEachTest();
const faults: DatabaseFaults = {};
const node = sendingNodeOf(ofEachTest, service, withLongDeadline, faults);
const receiver = ofEachTest(() => registerReceiver(service, channel));
/** The id of the event about the payment. The order has another event, about itself. */
let eventId: string;
beforeEach(async () => {
  eventId = (await createOrderWithEvents(service.fresh.database, channel)).payment;
});

const query = <Row>(sql: string) => service.fresh.database.query<Row>(sql);
const replay = () => replayNamedEvents(service.operator, { appId, eventIds: [eventId] });
const left = async () => [
  await listDueEvents(service.fresh.database),
  await query('select reason from undelivered_events'),
  await query('select kind from alerts'),
];
const secondPush = { id: '', step: 1, retryNo: 11, isDue: false };

/** Leaves only the payment's event in the queue, and makes its last push due. */
const beforeLastPush = async () => {
  await query('delete from due_events where not is_payment');
  await query(`update due_events set step = 10, retry_no = 10, next_at = now() - interval '1 min'`);
};
async function lastPush(): Promise<void> {
  await beforeLastPush();
  await node.balance();
  await node.read();
  await receiver.until(1);
}

it('a replay while the last push is in flight: the schedule restarts after it', async () => {
  receiver.answer('hang');
  await lastPush();
  expect(await replay()).toEqual({ replayed: 1 });
  receiver.server.closeAllConnections();
  await node.untilQuiet();
  expect(await left()).toEqual([[{ ...secondPush, id: eventId }], [], []]);
  expect(receiver.pushes).toHaveLength(1);
});

it('a replay of an event in a pause: the schedule restarts after the pause', async () => {
  await beforeLastPush();
  await pauseEvents(service.operator, { appId });
  await node.turn();
  expect(await replay()).toEqual({ replayed: 1 });
  await resumeEvents(service.operator, { appId });
  receiver.answer('refuse');
  await until('the push', async () => {
    await node.turn();
    return receiver.pushes.length === 1;
  });
  expect(await left()).toEqual([[{ ...secondPush, id: eventId }], [], []]);
});

it('a replay while the last outcome is being stored: it is sent again although it was given up', async () => {
  receiver.answer('refuse');
  let replayed: ReturnType<typeof replay> | undefined;
  faults.around = async (statement, run) => {
    const result = await run();
    if (statement === 'finish-deliveries') {
      // The outcome is written, but not committed yet.
      replayed = replay();
      await until('a replay that waits', async () => (await lockWaits(service.fresh.database)) > 0);
    }
    return result;
  };
  await lastPush();
  await until('the replay', () => replayed !== undefined);
  expect(await replayed).toEqual({ replayed: 1 });
  delete faults.around;
  receiver.answer('accept');
  await until('the push', async () => {
    await node.turn();
    return receiver.pushes.length === 2;
  });
  expect(receiver.pushes.map(({ retryNo }) => retryNo)).toEqual([10, 11]);
  expect(await left()).toEqual([[], [], [{ kind: 'webhook-given-up' }]]);
});

const forbidden = () => query(`select answer from delivery_attempts where outcome = 'FORBIDDEN'`);

it('an event past its retention is given up at once, with an alert, and delays no other', async () => {
  await query('delete from events where cycle_no is not null');
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await forbidden()).toEqual([{ answer: 'the event is past its retention' }]);
  expect(await left()).toEqual([[], [{ reason: 'GIVE_UP' }], [{ kind: 'webhook-given-up' }]]);
});

it('an event that cannot be composed is retried by the schedule, and delays no other', async () => {
  await query(`update events set data = '{}' where cycle_no is not null`);
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await forbidden()).toEqual([{ answer: 'the event could not be composed' }]);
  expect(await left()).toEqual([[{ id: eventId, step: 1, retryNo: 1, isDue: false }], [], []]);
});
