import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';
import { listDueEvents, recordOutcome } from '../webhooks/outcomes.js';
import { commandLine, type Refusal } from './support.js';

const masterKey = randomBytes(32);
const ORDER = '100000001000';
const fresh = ofFile(freshDatabase);
const line = commandLine(() => fresh, { MASTER_KEY: masterKey.toString('base64') });

beforeAll(async () => {
  const operator = {
    database: fresh.database,
    vault: openVault([masterKey]),
    environment: 'sandbox',
    actor: 'test',
  } as const;
  await createChannel(operator, { name: 'Told', appId: 'test_told' });
  await setCallback(operator, { appId: 'test_told', url: 'https://told.example/events' });
  await fresh.database.query(
    `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data)
     select channel_id, ${ORDER}, t, c, l, '2026-01-31 12:00:00+08', d from channels,
       (values ('payment.status.changed', 1, null, '{"paymentStatus":"SUCCESS"}'),
         ('order.status.changed', null, null, '{"orderStatus":"ACTIVE"}'),
         ('payment.status.changed', 2, 12, '{"paymentStatus":"CANCELED"}')) as v(t, c, l, d)`,
  );
  await recordOutcome(fresh.database, ['1'], 'REFUSED');
  await recordOutcome(fresh.database, ['1'], 'GIVE_UP');
  await recordOutcome(fresh.database, ['2'], 'ACCEPTED');
});

const text = (...args: readonly string[]) => line.text('events', ...args);
const json = (...args: readonly string[]) => line.json('events', ...args);

describe('events', () => {
  it('list', async () => {
    const lines = (await text('list', 'test_told')).split('\n').map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['EVENT', 'TYPE', 'ORDER', 'WRITTEN', 'STATUS', 'PUSHES', 'LAST PUSH']);
    expect(lines.slice(1, 4).map(([id, type, order, , status, pushes]) => [id, type, order, status, pushes])).toEqual([
      ['3-2 to 3-12', 'payment.status.changed', ORDER, 'PENDING', '0'],
      ['2', 'order.status.changed', ORDER, 'DELIVERED', '1'],
      ['1', 'payment.status.changed', ORDER, 'GIVE_UP', '2'],
    ]);
    const { items } = await json('list', 'test_told', '--order', ORDER, '--event', 'payment.status.changed');
    expect(items).toMatchObject([
      { eventId: '3-2', lastEventId: '3-12', orderNo: ORDER, data: { paymentStatus: 'CANCELED' } },
      { eventId: '1', lastEventId: null, occurredAt: '2026-01-31 12:00:00' },
    ]);
    expect((await json('list', 'test_told', '--status', 'GIVE_UP', '--from', '2026-01-01')).items).toHaveLength(1);
    expect((await json('list', 'test_told', '--limit', '1')).items).toHaveLength(1);
    expect((await json('list', 'test_told', '--from', '0001-01-01', '--to', '9999-12-31')).items).toHaveLength(3);
    expect(await text('list', 'test_told', '--to', '2026-01-01')).toBe('nothing yet\n');
  });

  it('show', async () => {
    const forPeople = await text('show', 'test_told', '1');
    expect(forPeople).toMatch(
      /^Event +1\nType +payment\.status\.changed\nOrder +100000001000\nHappened +2026-01-31 12:00:00\n/,
    );
    expect(forPeople).toMatch(/^Status +GIVE_UP\nData +\{"paymentStatus":"SUCCESS"\}$/m);
    expect(forPeople).toMatch(/^EVENT +RETRY +TIME +OUTCOME +HTTP +MS +ANSWER$/m);
    expect(forPeople).toMatch(/^1 +0 +\d{4}-.{14} +REFUSED +503 +12 +later, please\n1 +1 +.* REFUSED +503 +12 /m);
    expect(await json('show', 'test_told', '1')).toMatchObject({
      eventId: '1',
      deliveryStatus: 'GIVE_UP',
      attempts: [{ retryNo: 0, httpStatus: 503, latencyMs: 12, answer: 'later, please' }, { retryNo: 1 }],
    });
    expect(await text('show', 'test_told', '3')).toMatch(/^Event +3-2 to 3-12$/m);
    expect(await text('show', 'test_told', '3-4')).toMatch(/^Event +3-4$/m);
  });

  it('replay, by id and all that was given up', async () => {
    expect(await text('replay', 'test_told', '2')).toBe('events to be sent again: 1\n');
    expect(await json('replay', 'test_told', '--given-up', '--to', '2026-01-01')).toEqual({ replayed: 0 });
    expect(await json('replay', 'test_told', '--given-up')).toEqual({ replayed: 1 });
    expect((await listDueEvents(fresh.database)).map(({ id, retryNo }) => [id, retryNo])).toEqual([
      ['1', 2],
      ['2', 1],
      ['3-2..12', 0],
    ]);
  });

  it('pause and resume', async () => {
    const type = ['--event', 'payment.status.changed'];
    expect(await text('pause', 'test_told')).toBe('deliveries to test_told are paused (*)\n');
    expect(await text('pause', 'test_told')).toBe('deliveries to test_told were already paused (*)\n');
    expect(await json('pause', 'test_told', ...type)).toMatchObject({
      changed: true,
      pausedEvents: ['*', 'payment.status.changed'],
    });
    expect(await line.text('channel', 'show', 'test_told')).toMatch(/^Paused +\*\nPaused +payment\.status\.changed$/m);
    expect(await text('resume', 'test_told')).toBe('deliveries to test_told are resumed (*)\n');
    expect(await text('resume', 'test_told')).toBe('deliveries to test_told were not paused (*)\n');
    expect(await json('resume', 'test_told', ...type)).toMatchObject({ changed: true, pausedEvents: [] });
    const { items } = await line.json('audit', 'list', '--subject', 'test_told', '--limit', '4');
    expect(items).toMatchObject([
      { action: 'events.resume', detail: { eventType: 'payment.status.changed' } },
      { action: 'events.resume', detail: { eventType: '*' } },
      { action: 'events.pause', detail: { eventType: 'payment.status.changed' } },
      { action: 'events.pause', detail: { eventType: '*' } },
    ]);
  });

  it('refuse with exit code 1 and one line, and write nothing', async () => {
    const refusals: readonly Refusal[] = [
      [/there is no channel "test_none"/, 'list', 'test_none'],
      [/the status must be/, 'list', 'test_told', '--status', 'SENT'],
      [/is not a time such as/, 'list', 'test_told', '--from', 'yesterday'],
      [/whole number/, 'list', 'test_told', '--limit', 'all'],
      [/whole number from 1 to 10000/, 'list', 'test_told', '--limit', '10001'],
      [/not an order number/, 'list', 'test_told', '--order', '1x'],
      [/event type must be/, 'list', 'test_told', '--event', '*'],
      [/has no event "4"/, 'show', 'test_told', '4'],
      [/has no event "3-13"/, 'show', 'test_told', '3-13'],
      [/has no event "1'"/, 'show', 'test_told', "1'"],
      [/either event ids or --given-up/, 'replay', 'test_told'],
      [/either event ids or --given-up/, 'replay', 'test_told', '1', '--given-up'],
      [/go with --given-up/, 'replay', 'test_told', '1', '--from', '2026-01-31'],
      [/has no event "1, 4"/, 'replay', 'test_told', '1', '4'],
      [/is not a time such as/, 'replay', 'test_told', '--given-up', '--to', 'noon'],
      [/there is no channel/, 'replay', 'test_none', '--given-up'],
      [/there is no channel/, 'pause', 'test_none'],
      [/an event type must be/, 'pause', 'test_told', '--event', 'all'],
    ];
    await line.expectRefusals(refusals.map(([reason, ...args]) => [reason, 'events', ...args]));
  });
});
