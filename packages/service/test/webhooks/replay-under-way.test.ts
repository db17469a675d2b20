import { afterEach, beforeEach, expect, it } from 'vitest';
import { pauseEvents, replayNamedEvents, resumeEvents } from '../../src/operator/events.js';
import type { ChannelClient } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { demoChannel } from '../support/demo.js';
import { until } from '../support/processes.js';
import { type TestService, testService } from '../support/service.js';
import { createOrderWithEvents, listDueEvents } from './outcomes.js';
import type { TestReceiver } from './receiver.js';
import {
  createSendingNode,
  type DatabaseFaults,
  registerReceiver,
  type SendingNode,
  statusIn,
  withLongDeadline,
} from './sending.js';

const appId = 'test_demo';
let service: TestService;
let channel: ChannelClient;
let receiver: TestReceiver;
let node: SendingNode;
let faults: DatabaseFaults;
/** Of the event about the payment; there is another one, about the order. */
let eventId: string;

beforeEach(async () => {
  service = await testService();
  channel = await demoChannel(service);
  receiver = await registerReceiver(service, channel);
  faults = {};
  node = createSendingNode(service, withLongDeadline(), faults);
  eventId = (await createOrderWithEvents(service.fresh.database, channel)).payment;
});
afterEach(async () => {
  await receiver.close();
  await node.stop();
  await service.close();
});

const query = <Row>(sql: string) => service.fresh.database.query<Row>(sql);
const replay = () => replayNamedEvents(service.operator, { appId, eventIds: [eventId] });
const left = async () => [
  await listDueEvents(service.fresh.database),
  await query('select reason from undelivered_events'),
  await query('select kind from alerts'),
];
const secondPush = { id: '', step: 1, retryNo: 11, isDue: false };

/** Of the payment's event, and no other is there. */
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

it('a replay while the last push is under way: the schedule begins anew after it', async () => {
  receiver.answer('hang');
  await lastPush();
  expect(await replay()).toEqual({ replayed: 1 });
  receiver.server.closeAllConnections();
  await node.untilQuiet();
  expect(await left()).toEqual([[{ ...secondPush, id: eventId }], [], []]);
  expect(receiver.pushes).toHaveLength(1);
});

it('a replay of what waits for the end of a pause: the schedule begins anew then', async () => {
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

it('a replay while the last push is being written down: it is sent again though it was given up', async () => {
  receiver.answer('refuse');
  let replayed: ReturnType<typeof replay> | undefined;
  faults.around = async (statement, run) => {
    const result = await run();
    if (statement === 'finish-deliveries') {
      // Written, and not committed yet.
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

it('an event that is past its retention is given up at once, with an alert, and holds up no other', async () => {
  await query('delete from events where cycle_no is not null');
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await forbidden()).toEqual([{ answer: 'the event is past its retention' }]);
  expect(await left()).toEqual([[], [{ reason: 'GIVE_UP' }], [{ kind: 'webhook-given-up' }]]);
});

it('an event that cannot be put together is tried again by the schedule, and holds up no other', async () => {
  await query(`update events set data = '{}' where cycle_no is not null`);
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await forbidden()).toEqual([{ answer: 'the event could not be put together' }]);
  expect(await left()).toEqual([[{ id: eventId, step: 1, retryNo: 1, isDue: false }], [], []]);
});
