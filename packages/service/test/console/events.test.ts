import { describe, expect, it } from 'vitest';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { stage } from '../orders/support.js';
import { createOrderWithEvents, recordOutcome } from '../webhooks/outcomes.js';
import { startReceiver } from '../webhooks/receiver.js';
import { personOfFile, walk } from './support.js';

const on = ofFile(() => stage({ localCallbacks: true }));
const viewer = personOfFile(() => on.service, 'viewer');
const support = personOfFile(() => on.service, 'support');
const admin = personOfFile(() => on.service, 'admin');
const receiver = ofFile(() => startReceiver());

const appId = 'test_demo';
const database = () => on.service.fresh.database;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

/** Returns the channel's line of the list. */
async function lineOf(id = appId) {
  const { status, body } = await viewer.get(`/events/channels?appId=${id}`);
  expect(status).toBe(200);
  return body.channels[0];
}

describe('GET /events/channels', () => {
  it('shows for each channel the waiting events and their age, those given up, and the last answer', async () => {
    await database().query('truncate due_events, undelivered_events, delivery_attempts');
    expect(await lineOf()).toEqual({
      appId,
      name: expect.any(String),
      callbackUrls: [],
      paused: [],
      waiting: 0,
      oldestWaitingAt: null,
      nextPushAt: null,
      givenUp: 0,
      withoutAddress: 0,
      accepted: 0,
      failed: 0,
      lastAnswer: null,
    });
    const one = await createOrderWithEvents(database(), on.channel);
    expect(await lineOf()).toMatchObject({ waiting: 2, oldestWaitingAt: TIME, nextPushAt: TIME });
    await recordOutcome(database(), [one.payment], 'ACCEPTED');
    expect(await lineOf()).toMatchObject({ waiting: 1, lastAnswer: expect.stringContaining('"code":"0"') });
    const { body } = await viewer.get('/events/channels');
    expect(body.channels).toContainEqual(expect.objectContaining({ appId, waiting: 1, lastAnswer: null }));
    await recordOutcome(database(), [one.order], 'GIVE_UP');
    expect(await lineOf()).toMatchObject({ waiting: 0, nextPushAt: null, givenUp: 1, withoutAddress: 0 });
  });

  it('takes the pushes of the last 24 hours from the hourly figures', async () => {
    await database().query(
      `insert into hourly_figures (hour, channel_id, pushes_accepted, pushes_failed)
       select date_trunc('hour', now()) - n * interval '1 hour', c.channel_id, 10, 1
       from channels c, generate_series(0, 30) n where c.app_id = $1`,
      [appId],
    );
    const { accepted, failed } = await lineOf();
    expect([accepted, failed]).toEqual([failed * 10, 24]);
  });

  it('shows no next push for paused events', async () => {
    await createOrderWithEvents(database(), on.channel);
    const path = `/channels/${appId}/events`;
    expect((await support.post(`${path}/pause`)).body).toEqual({ pausedEvents: ['*'], changed: true });
    expect(await lineOf()).toMatchObject({ paused: ['*'], waiting: 2, nextPushAt: null });
    expect((await support.post(`${path}/pause`)).body).toEqual({ pausedEvents: ['*'], changed: false });
    expect((await support.post(`${path}/resume`)).body).toEqual({ pausedEvents: [], changed: true });
    const eventType = 'order.status.changed';
    expect((await support.post(`${path}/pause`, { eventType })).body.pausedEvents).toEqual([eventType]);
    expect(await lineOf()).toMatchObject({ paused: [eventType], nextPushAt: TIME });
    await support.post(`${path}/resume`, { eventType });
  });
});

describe('GET /events', () => {
  it('pages by a cursor, newest first, each event once', async () => {
    const all: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { payment, order } = await createOrderWithEvents(database(), on.channel);
      all.unshift(order, payment);
    }
    const seen = await walk(viewer, `/events?appId=${appId}&limit=2`, 'events', 'eventId');
    expect(seen.slice(0, all.length)).toEqual(all);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each([
    ['no channel', '/events', 400],
    ['a channel that is not there', '/events?appId=test_nobody', 404],
    ['a cursor that is none', `/events?appId=${appId}&cursor=abc`, 400],
    ['a page of none', `/events?appId=${appId}&limit=0`, 400],
    ['a page of too many', `/events?appId=${appId}&limit=201`, 400],
    ['a status that is none', `/events?appId=${appId}&status=LOST`, 400],
    ['an event that is not there', `/channels/${appId}/events/999999999999999`, 404],
  ])('refuses %s', async (_what, path, status) => {
    expect((await viewer.get(path)).status).toBe(status);
  });
});

describe('GET /channels/{appId}/events/{eventId}', () => {
  it('has the payload, all pushes, and the time of the next one', async () => {
    const { orderNo, payment } = await createOrderWithEvents(database(), on.channel);
    await recordOutcome(database(), [payment], 'REFUSED');
    const { body } = await viewer.get(`/channels/${appId}/events/${payment}`);
    expect(body).toMatchObject({
      event: { eventId: payment, orderNo, deliveryStatus: 'PENDING', pushes: 1 },
      data: { orderNo },
      pushes: [{ outcome: 'REFUSED', retryNo: 0, at: TIME }],
      nextPushAt: TIME,
    });
    expect(body.event).not.toHaveProperty('data');
    await recordOutcome(database(), [payment], 'ACCEPTED');
    expect((await viewer.get(`/channels/${appId}/events/${payment}`)).body).toMatchObject({
      event: { deliveryStatus: 'DELIVERED' },
      nextPushAt: null,
    });
  });
});

describe('POST /channels/{appId}/events/replay', () => {
  it('replays all of them or none', async () => {
    const { payment, order } = await createOrderWithEvents(database(), on.channel);
    await recordOutcome(database(), [payment, order], 'GIVE_UP');
    const path = `/channels/${appId}/events/replay`;
    expect((await support.post(path, { eventIds: [payment, '999999999999999'] })).status).toBe(404);
    expect((await support.post(path, { eventIds: [payment, order] })).body).toEqual({ replayed: 2 });
    expect((await viewer.post(path, { eventIds: [payment] })).status).toBe(403);
  });
});

describe('POST /channels/{appId}/events/test', () => {
  const path = `/channels/${appId}/events/test`;
  const tablesOf = (all: string) => all.split(/\n(?=\w+: )/);

  it('is refused without a callback address', async () => {
    const { status, body } = await support.post(path, {});
    expect([status, body.detail]).toEqual([409, `channel ${appId} has no callback address for order.status.changed`]);
  });

  it('sends a signed push that is marked as a test, and stores only its audit entry', async () => {
    receiver.know(appId, on.channel.credentials.callbackSecret);
    const callback = { eventType: '*', url: receiver.url };
    expect((await admin.put(`/channels/${appId}`, { callback })).status).toBe(200);
    const before = new Set(tablesOf(await dump(database())));
    const { status, body } = await support.post(path, { eventType: 'payment.status.changed' });
    expect([status, body]).toEqual([
      200,
      {
        url: receiver.url,
        outcome: 'ACCEPTED',
        httpStatus: 200,
        latencyMs: expect.any(Number),
        answer: expect.stringContaining('"code":"0"'),
      },
    ]);
    expect(receiver.forged).toEqual([]);
    expect(receiver.pushes).toMatchObject([
      { appId, eventType: 'payment.status.changed', retryNo: 0, data: { test: true } },
    ]);
    expect(receiver.pushes[0]?.eventId).toMatch(/^test-[0-9a-f]{16}$/);
    const changed = tablesOf(await dump(database())).filter((table) => !before.has(table));
    const names = changed.map((table) => table.replace(/:.*/s, ''));
    // Ignores console_sessions, because the session stores the time of its last use.
    expect(names.filter((name) => name !== 'console_sessions')).toEqual(['audit_head', 'audit_log', 'audit_seals']);
    const { body: log } = await admin.get('/audit?action=events.test');
    expect(log.entries[0]).toMatchObject({ actor: support.name, action: 'events.test', subject: appId });
  });

  it('reports the answer of a receiver that refuses it', async () => {
    receiver.answer({ status: 500, body: 'out of order' });
    expect((await support.post(path, {})).body).toMatchObject({
      outcome: 'REFUSED',
      httpStatus: 500,
      answer: 'out of order',
    });
  });
});
