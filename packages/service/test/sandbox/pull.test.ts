import { decryptField, formatTime, HEADERS, parseTime, sha256Hex, signWebhook } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setVoidedPeriodEvents } from '../../src/operator/provisioning/channel-settings.js';
import { gate } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { mobileOf } from '../support/demo.js';
import { createSendingNode, registerReceiver, type SendingNode } from '../webhooks/sending.js';
import { timeMachine } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Answer = Record<string, any>;

const scene = ofFile(timeMachine);
const receiver = ofFile(() => registerReceiver(scene.service, scene.channel));
let node: SendingNode;
beforeAll(() => {
  node = createSendingNode(scene.service);
});
afterAll(() => node.stop());

const pull = (body: object = {}) => scene.channel.call('sandbox/events/pull', { path: '/events', ...body });

/** Pulls all pages. Returns all pushes and the number of pushes on each page. */
async function pullAll(body: object = {}): Promise<{ pushes: Answer[]; pages: number[] }> {
  const [pushes, pages]: [Answer[], number[]] = [[], []];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data } = await pull({ ...body, ...(cursor === undefined ? {} : { cursor }) });
    pushes.push(...data.pushes);
    pages.push(data.pushes.length);
    cursor = data.nextCursor;
  }
  return { pushes, pages };
}

/** Replaces the field whose ciphertext differs in each push. */
const comparable = (body: string) => body.replace(/"mobileEncrypted":"[^"]+"/, '"mobileEncrypted":"..."');

describe('sandbox/events/pull', () => {
  it('returns the pushes byte for byte, in order, in pages that may end within voided periods', async () => {
    const shared = await scene.deducted({ channelUserId: 'a user', externalOrderNo: 'with "quotes" and 中文' });
    await scene.advance(shared, { cycles: 2, outcomes: ['FAIL_RETRY'] });
    const collected = await scene.collected();
    await scene.channel.call('orders/unsubscribe', { orderNo: collected });
    await scene.channel.call('orders/unsubscribe', { orderNo: shared });
    const quiet = await scene.collected();
    const { appId } = scene.channel.credentials;
    await setVoidedPeriodEvents(scene.service.operator, { appId, send: false });
    await scene.channel.call('orders/unsubscribe', { orderNo: quiet });

    const before = await scene.service.fresh.database.query('select * from due_events order by event_no, cycle_no');
    const { pushes, pages } = await pullAll({ size: 7 });
    expect(await scene.service.fresh.database.query('select * from due_events order by event_no, cycle_no')).toEqual(
      before,
    );

    await node.turn();
    expect(receiver.forged).toEqual([]);
    expect(pushes.map(({ body }) => comparable(body)).toSorted()).toEqual(
      receiver.pushes.map(({ raw }) => comparable(raw.toString())).toSorted(),
    );
    const ofOrder = (orderNo: string, events: readonly { eventId: string; data: { orderNo: string } }[]) =>
      events.filter(({ data }) => data.orderNo === orderNo).map(({ eventId }) => eventId);
    const parsed = pushes.map(({ body }) => JSON.parse(body));
    for (const orderNo of [shared, collected, quiet]) {
      expect(ofOrder(orderNo, parsed)).toEqual(ofOrder(orderNo, receiver.pushes));
    }
    expect(pages.slice(0, -1).every((length) => length === 7)).toBe(true);
    expect(pages.length).toBeGreaterThan(3);
    expect(new Set(pushes.map(({ eventId }) => eventId)).size).toBe(pushes.length);
    expect(pushes.filter(({ eventId }) => eventId.includes('-')).length).toBe(11 + 9);

    const { callbackSecret, aesKey } = scene.channel.credentials;
    for (const { headers, body, eventId, eventType, occurredAt } of pushes) {
      const signed = {
        path: '/events',
        bodySha256: sha256Hex(Buffer.from(body)),
        timestamp: headers[HEADERS.timestamp] ?? '',
        nonce: headers[HEADERS.nonce] ?? '',
        eventId,
      };
      expect(headers).toEqual({
        'Content-Type': 'application/json',
        'X-SVC-App-Id': appId,
        'X-SVC-Timestamp': String(scene.service.clock.now()),
        'X-SVC-Nonce': expect.stringMatching(/^[0-9a-f]{32}$/),
        'X-SVC-Event-Id': eventId,
        'X-SVC-Signature': signWebhook(signed, Buffer.from(callbackSecret, 'base64')),
      });
      expect(JSON.parse(body)).toMatchObject({ eventId, eventType, occurredAt, retryNo: 0 });
    }
    const mobiles = parsed.flatMap(({ data }) => data.mobileEncrypted ?? []);
    expect(mobiles.length).toBeGreaterThan(5);
    for (const one of mobiles) {
      expect(decryptField(one, Buffer.from(aesKey, 'base64'))).toBe(mobileOf('a user'));
    }
  });

  it('begins at a time of writing, and returns when it was read', async () => {
    const { pushes } = await pullAll();
    const written = pushes.map(({ writtenAt }) => writtenAt);
    expect(written).toEqual(written.toSorted());
    const { data } = await pull({ size: 1 });
    expect(data.pushes).toHaveLength(1);
    expect(data.readAt >= (written.at(-1) ?? '')).toBe(true);
    const last = written.at(-1) ?? '';
    const since = await pullAll({ from: last });
    expect(since.pushes.map(({ eventId }) => eventId)).toEqual(
      pushes.filter(({ writtenAt }) => writtenAt >= last).map(({ eventId }) => eventId),
    );
    expect((await pull({ from: formatTime((parseTime(data.readAt) ?? 0) + 60_000) })).data).toMatchObject({
      pushes: [],
      nextCursor: null,
    });
    expect((await pull({ from: '0001-01-01 00:00:00' })).data.pushes.length).toBe(pushes.length);
  });

  it("returns only the channel's own events, and accepts a cursor for the same query only", async () => {
    const other = await anotherChannel(scene.service);
    expect((await other.call('sandbox/events/pull', { path: '/' })).data).toMatchObject({
      pushes: [],
      nextCursor: null,
    });
    const { nextCursor: cursor } = (await pull({ size: 1 })).data;
    expect((await pull({ cursor })).code).toBe('0');
    expect((await pull({ cursor, from: '2026-01-01 00:00:00' })).code).toBe('400001');
    expect((await other.call('sandbox/events/pull', { path: '/', cursor })).code).toBe('400001');
    for (const path of ['events', '/a?b', '/事']) expect((await pull({ path })).code).toBe('400001');
  });

  it('does not wait for an event that is being written, and returns it later although it is earlier', async () => {
    const { database } = scene.service.fresh;
    const known = (await pullAll()).pushes.map(({ eventId }) => eventId);
    const orderNo = await scene.collected();
    const held = gate();
    const slow = database.transaction(async (tx) => {
      await tx.query(
        `insert into events (channel_id, order_no, event_type, occurred_at, data)
         select channel_id, order_no, event_type, occurred_at, data from events where order_no = $1 and event_type like 'order%'`,
        [orderNo],
      );
      await held.stand();
    });
    await held.reached;
    const later = await scene.collected();
    const first = await pullAll();
    expect(first.pushes.filter(({ body }) => body.includes(later))).toHaveLength(2);
    held.open();
    await slow;
    const second = await pullAll();
    const missed = second.pushes.filter(({ eventId }) => !first.pushes.some((one) => one.eventId === eventId));
    expect(missed).toHaveLength(1);
    expect(second.pushes.at(-1)).not.toEqual(missed[0]);
    expect(second.pushes.map(({ eventId }) => eventId).slice(0, known.length)).toEqual(known);
  });
});
