import { expect, it } from 'vitest';
import { empty, ended, isIdle, type Lane, newLane, offer, start, take } from '../../src/delivery/dispatcher/lane.js';
import type { DueEvent } from '../../src/delivery/queue/due-sql.js';
import type { Message } from '../../src/delivery/receivers/message.js';

const due = (orderNo: number, eventNo: number): DueEvent => ({
  shard: 1,
  channelId: 1,
  orderNo,
  eventNo,
  cycleNo: 0,
  isPayment: false,
  cycleTo: null,
  nextAt: '2026-11-15 12:00:00+08',
  recordedAt: null,
  step: 0,
  retryNo: 0,
});

const aLane = (): Lane =>
  newLane({
    key: '1',
    channelId: 1,
    shard: 1,
    isPayment: undefined,
    url: 'http://localhost/events',
    known: new Set(),
  });

/** As they are once they were read in full. */
const load = (lane: Lane, most: number) =>
  lane.ready.push(...take(lane, most).map((one) => ({ due: one }) as unknown as Message));

it('of one order each comes after the one before it, wherever the others of it wait', () => {
  const lane = aLane();
  for (let eventNo = 1; eventNo <= 100; eventNo += 1) offer(lane, due(1, eventNo));
  load(lane, 50);
  const told: number[] = [];
  for (let turn = 0; told.length < 180; turn += 1) {
    const message = start(lane);
    // Nothing else of it may go meanwhile; more of it is read, or set aside.
    expect(start(lane)).toBeUndefined();
    if (turn % 3 === 0) load(lane, 5);
    if (!message) continue;
    told.push(message.due.eventNo);
    // What was read while it was under way is ready before it is over.
    load(lane, 2);
    // And another one is written, behind all that is waiting.
    if (told.length <= 80) offer(lane, due(1, 100 + told.length));
    ended(lane, message);
  }
  expect(told).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
  expect(isIdle(lane)).toBe(true);
  expect(lane.asideCount).toBe(0);
});

it('is emptied of all that waits, wherever it does', () => {
  const lane = aLane();
  for (let eventNo = 1; eventNo <= 200; eventNo += 1) offer(lane, due(1, eventNo));
  load(lane, 50);
  const first = start(lane);
  start(lane);
  load(lane, 50);
  offer(lane, due(2, 201));
  load(lane, 50);
  offer(lane, due(3, 202));
  expect([lane.parked.size, lane.aside.size, lane.ready.length, lane.queue.length]).toEqual([1, 1, 1, 1]);
  empty(lane);
  expect([...lane.known]).toEqual([first?.due.eventNo]);
});
