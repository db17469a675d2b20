import { afterEach, beforeEach, expect, it } from 'vitest';
import { demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { createOrderWithEvents, listDueEvents } from './outcomes.js';
import type { TestReceiver } from './receiver.js';
import { createSendingNode, registerReceiver, type SendingNode, statusIn } from './sending.js';

let service: TestService;
let receiver: TestReceiver;
let node: SendingNode;
let payment: string;

beforeEach(async () => {
  service = await testService();
  const channel = await demoChannel(service);
  receiver = await registerReceiver(service, channel);
  node = createSendingNode(service);
  payment = (await createOrderWithEvents(service.fresh.database, channel)).payment;
});
afterEach(async () => {
  await node.stop();
  await receiver.close();
  await service.close();
});

const query = <Row>(sql: string) => service.fresh.database.query<Row>(sql);
const attempts = () => query(`select outcome, answer from delivery_attempts where outcome <> 'ACCEPTED'`);

it('an event that is past its retention is given up at once, with an alert, and holds up no other', async () => {
  await query('delete from events where cycle_no is not null');
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await attempts()).toEqual([{ outcome: 'FORBIDDEN', answer: 'the event is past its retention' }]);
  expect(await listDueEvents(service.fresh.database)).toEqual([]);
  expect(await query('select event_no::text as id, reason from undelivered_events')).toEqual([
    { id: payment, reason: 'GIVE_UP' },
  ]);
  expect(await query('select kind from alerts')).toEqual([{ kind: 'webhook-given-up' }]);
});

it('an event that cannot be put together is tried again by the schedule, and holds up no other', async () => {
  await query(`update events set data = '{}' where cycle_no is not null`);
  await node.turn();
  expect(receiver.pushes.map(statusIn)).toEqual(['ACTIVE']);
  expect(await attempts()).toEqual([{ outcome: 'FORBIDDEN', answer: 'the event could not be put together' }]);
  expect(await listDueEvents(service.fresh.database)).toEqual([{ id: payment, step: 1, retryNo: 1, isDue: false }]);
  expect(await query('select * from undelivered_events')).toEqual([]);
});
