import { expect, it } from 'vitest';
import { Lane } from '../../src/delivery/dispatcher/lane.js';
import type { DueEvent, EventKey } from '../../src/delivery/queue/due-sql.js';
import type { Message } from '../../src/delivery/receivers/message.js';

const due = (orderNo: number, eventNo: number): DueEvent => ({
  shard: 1,
  channelId: 1,
  orderNo,
  eventNo,
  cycleNo: 0,
  typeNo: 0,
  cycleTo: null,
  nextAt: '2026-11-15 12:00:00+08',
  recordedAt: null,
  step: 0,
  retryNo: 0,
});

const newLane = (known = new Set<EventKey>()) =>
  new Lane({ key: '1', channelId: 1, shard: 1, typeNos: [0, 1, 2], url: 'http://localhost/events', known });

const messageOf = (one: DueEvent): Message => ({ due: one, version: 1, eventId: '', head: '', tail: '' });

/** Reads the next events of the lane in full. */
function load(lane: Lane, max: number): void {
  for (const one of lane.takeKeys(max)) lane.addReady(messageOf(one));
}

it('is cleared of all that waits, wherever it does', () => {
  const known = new Set<EventKey>();
  const lane = newLane(known);
  for (let eventNo = 1; eventNo <= 200; eventNo += 1) lane.offer(due(1, eventNo));
  load(lane, 50);
  const first = lane.takeNext();
  lane.takeNext();
  load(lane, 50);
  lane.offer(due(2, 201));
  load(lane, 50);
  lane.offer(due(3, 202));
  expect(lane.counts()).toEqual({ queued: 1, ready: 1, waiting: 49, deferred: 150 });
  lane.clear();
  expect([...known]).toEqual([first?.due.eventNo]);
});
