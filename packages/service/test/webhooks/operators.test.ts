import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { replayGivenUpEvents, replayNamedEvents, showEvent } from '../../src/operator/events/events.js';
import { dump } from '../operator/support.js';
import { anotherChannel } from '../orders/support.js';
import {
  channel,
  createOrderWithEvents,
  createVoidedPeriods,
  database,
  expandVoidedPeriods,
  listDueEvents,
  on,
  recordOutcome,
  useStage,
} from './outcomes.js';

useStage();

const operator = () => on.service.operator;
const appId = 'test_demo';
const queuedOf = async (eventNo: string) =>
  (await listDueEvents(database())).filter(({ id }) => id.split('-')[0] === eventNo).map(({ id }) => id);
const latestAudit = async (subject = appId) =>
  (await listAudit(operator(), { subject, limit: 1 })).map(({ actor, action, detail }) => ({
    actor,
    action,
    detail,
  }))[0];

describe('one event', () => {
  it('of another channel is not found', async () => {
    const other = await anotherChannel(on.service);
    const { payment } = await createOrderWithEvents(database(), other);
    await expect(showEvent(operator(), { appId, eventId: payment })).rejects.toThrow(/has no event/);
  });

  it('of periods that were voided together is shown as one of them or as all', async () => {
    const { range } = await createVoidedPeriods(database(), channel);
    await recordOutcome(database(), [`${range}-2`], 'NO_CALLBACK');
    const status = async (eventId: string) => (await showEvent(operator(), { appId, eventId })).deliveryStatus;
    expect([await status(range), await status(`${range}-5`)]).toEqual(['NO_CALLBACK', 'NO_CALLBACK']);
    await replayNamedEvents(operator(), { appId, eventIds: [range] });
    await expandVoidedPeriods(database(), `${range}-2`);
    await recordOutcome(database(), [`${range}-2`, `${range}-3`], 'ACCEPTED');
    await recordOutcome(database(), [`${range}-4`], 'GIVE_UP');
    expect(await status(`${range}-3`)).toBe('DELIVERED');
    expect(await status(`${range}-4`)).toBe('GIVE_UP');
    expect(await status(`${range}-5`)).toBe('PENDING');
    const all = await showEvent(operator(), { appId, eventId: range });
    expect(all).toMatchObject({
      eventId: `${range}-2`,
      lastEventId: `${range}-7`,
      deliveryStatus: 'GIVE_UP',
      pushes: 3,
    });
    expect(all.attempts.map(({ eventId }) => eventId).toSorted()).toEqual(
      [2, 3, 4].map((cycle) => `${range}-${cycle}`),
    );
    const one = await showEvent(operator(), { appId, eventId: `${range}-3` });
    expect(one).toMatchObject({
      eventId: `${range}-3`,
      lastEventId: null,
      pushes: 1,
      attempts: [{ eventId: `${range}-3` }],
    });
  });
});

describe('a replay', () => {
  it('of named events is audited, and none is replayed if one does not exist', async () => {
    const { payment, order } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment, order], 'GIVE_UP');
    expect(await replayNamedEvents(operator(), { appId, eventIds: [payment] })).toEqual({ replayed: 1 });
    expect(await latestAudit()).toEqual({ actor: 'test', action: 'events.replay', detail: { eventIds: [payment] } });
    const before = await dump(database());
    for (const eventId of ['999999999999', 'x', `${order}-1`]) {
      await expect(replayNamedEvents(operator(), { appId, eventIds: [order, eventId] })).rejects.toThrow(
        /has no event/,
      );
    }
    expect(await dump(database())).toBe(before);
    expect([await queuedOf(payment), await queuedOf(order)]).toEqual([[payment], []]);
  });

  it('of all given up in a time range is audited with their number', async () => {
    const other = await anotherChannel(on.service);
    const { appId: another } = other.credentials;
    const { payment, order } = await createOrderWithEvents(database(), other);
    await recordOutcome(database(), [payment], 'GIVE_UP');
    await recordOutcome(database(), [order], 'NO_CALLBACK');
    await database().query(`update undelivered_events set recorded_at = '2026-03-01 23:59:59+08' where event_no = $1`, [
      payment,
    ]);
    const march = { appId: another, from: '2026-03-01', to: '2026-03-02' };
    expect(await replayGivenUpEvents(operator(), { ...march, to: '2026-03-01' })).toEqual({ replayed: 0 });
    expect(await latestAudit(another)).not.toMatchObject({ action: 'events.replay-given-up' });
    expect(await replayGivenUpEvents(operator(), march)).toEqual({ replayed: 1 });
    expect([await queuedOf(payment), await queuedOf(order)]).toEqual([[payment], []]);
    expect(await latestAudit(another)).toEqual({
      actor: 'test',
      action: 'events.replay-given-up',
      detail: { from: '2026-03-01', to: '2026-03-02', replayed: 1 },
    });
    expect(await replayGivenUpEvents(operator(), { appId: another })).toEqual({ replayed: 1 });
    expect(await queuedOf(order)).toEqual([order]);
  });

  it('of very many runs in steps, and ends although all of them are set aside again', async () => {
    const other = await anotherChannel(on.service);
    const { orderNo } = await createOrderWithEvents(database(), other);
    await database().query(
      `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
       select channel_id, 1000000 + n, 0, order_no, true, now(), 0, 'NO_CALLBACK' from orders, generate_series(1, 12000) n
       where order_no = $1`,
      [orderNo],
    );
    // A trigger that sets events aside immediately, as a node does for a channel without an address.
    await database().query(
      `create function put_aside() returns trigger language plpgsql as $$ begin
         insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
         select channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, 'NO_CALLBACK' from queued
         where event_no > 1000000;
         return null;
       end $$`,
    );
    await database().query(
      `create trigger put_aside after insert on due_events referencing new table as queued
       for each statement execute function put_aside()`,
    );
    try {
      expect(await replayGivenUpEvents(operator(), { appId: other.credentials.appId })).toEqual({ replayed: 12_000 });
    } finally {
      await database().query('drop trigger put_aside on due_events');
    }
    const audit = await listAudit(operator(), { subject: other.credentials.appId, limit: 10 });
    const steps = audit.filter(({ action }) => action === 'events.replay-given-up');
    expect(steps.map(({ detail }) => detail)).toMatchObject([
      { replayed: 2000 },
      { replayed: 5000 },
      { replayed: 5000 },
    ]);
  });
});
