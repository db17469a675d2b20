import { describe, expect, it } from 'vitest';
import { replayEvents, tryLockReplays } from '../../src/delivery/queue/replay-sql.js';
import { type Database, openDatabase, wrapQuery } from '../../src/platform/db/database.js';
import type { ServiceDeps } from '../../src/service.js';
import { gate } from '../agreements/support.js';
import { anotherChannel } from '../orders/support.js';
import type { Reply } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { unique } from '../support/demo.js';
import { anotherNode } from '../support/second-node.js';
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

const replay = (body: object, by = channel, options = {}) => by.call('events/replay', body, options);
const replayed = async (...eventIds: string[]) => (await replay({ eventIds })).data?.replayed;
/** Returns which of these events wait to be sent. */
const queued = async (...numbers: string[]) =>
  (await listDueEvents(database())).filter(({ id }) => numbers.includes(id.split('-')[0] ?? ''));
const statusOf = async (eventId: string, by = channel) => {
  const { data } = await by.call('events/list', {});
  return data.events.find((event: { eventId: string }) => event.eventId === eventId)?.deliveryStatus;
};
/** In UTC the first of these is in year 0, a year that PostgreSQL does not have. */
const EARLIEST = ['0001-01-01 00:00:00', '0000-01-01 00:00:00'];
const first = (id: string, retryNo: number) => ({ id, step: 0, retryNo, isDue: true });

/**
 * Starts another node. `hasTried` resolves when a request to this node first tries to take the replay lock of the
 * request's channel.
 */
async function nodeThatTells(more: Partial<ServiceDeps> = {}) {
  const { open: tell, passed: hasTried } = gate();
  const real = openDatabase({ url: on.service.fresh.url, pool: 8, name: 'watched node' });
  const watched: Database = {
    ...real,
    transaction: (work, options) =>
      real.transaction(
        (tx) =>
          work({
            ...tx,
            query: wrapQuery(tx, async (run, { text }) => {
              const rows = await run();
              if (text.includes('pg_try_advisory_xact_lock')) tell();
              return rows;
            }),
          }),
        options,
      ),
  };
  const node = await anotherNode(on.service, { ...more, database: watched });
  const close = async () => {
    await node.close();
    await real.close();
  };
  return { node: { ...node, close }, hasTried };
}

describe('events/replay of one event', () => {
  it('0: given up: from the first step, with retryNo continued', async () => {
    const { payment, order } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment], 'REFUSED');
    await recordOutcome(database(), [payment, order], 'GIVE_UP');
    expect(await queued(payment, order)).toEqual([]);
    expect(await replayed(payment)).toBe(1);
    expect(await queued(payment, order)).toEqual([first(payment, 2)]);
    expect([await statusOf(payment), await statusOf(order)]).toEqual(['PENDING', 'GIVE_UP']);
  });

  it('0: delivered: it stays so until it is given up', async () => {
    const { payment } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment], 'ACCEPTED');
    expect(await replayed(payment)).toBe(1);
    expect(await queued(payment)).toEqual([first(payment, 1)]);
    expect(await statusOf(payment)).toBe('DELIVERED');
    await recordOutcome(database(), [payment], 'GIVE_UP');
    expect(await statusOf(payment)).toBe('GIVE_UP');
  });

  it('0: set aside without an address: as if it were sent for the first time', async () => {
    const { payment } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment], 'NO_CALLBACK');
    expect(await replayed(payment)).toBe(1);
    expect(await queued(payment)).toEqual([first(payment, 0)]);
    expect(await replayed(payment)).toBe(1);
    expect(await queued(payment)).toEqual([first(payment, 0)]);
  });

  it('0: not sent yet: nothing changes; waiting for a retry: due now', async () => {
    const { payment, order } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [order], 'REFUSED');
    expect(await queued(payment, order)).toEqual([first(payment, 0), { id: order, step: 1, retryNo: 1, isDue: false }]);
    expect(await replayed(payment, order)).toBe(2);
    expect(await queued(payment, order)).toEqual([first(payment, 0), first(order, 1)]);
    expect(await replayed(payment, order, order)).toBe(2);
    expect(await queued(payment, order)).toEqual([first(payment, 0), first(order, 1)]);
  });

  it('0: while another replay of it is not committed yet: it is queued once', async () => {
    const bystander = await anotherChannel(on.service);
    const { payment } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment], 'ACCEPTED');
    const [{ id = 0 } = {}] = await database().query<{ id: number }>(
      'select channel_id as id from events where event_no = $1',
      [payment],
    );
    const { node, hasTried } = await nodeThatTells();
    const caller = node.client(channel);
    let others: Promise<Reply[]> | undefined;
    await database().transaction(async (tx) => {
      await replayEvents(tx, id, [{ eventNo: Number(payment), cycleNo: undefined }]);
      others = Promise.all(Array.from({ length: 20 }, () => replay({ eventIds: [payment] }, caller)));
      await hasTried;
      // None of the 20 replays waits for a database lock, and the other channel does not wait for them.
      expect(await lockWaits(database())).toBe(0);
      expect((await bystander.call('events/list', {})).code).toBe('0');
    });
    expect((await others)?.map(({ data }) => data)).toEqual(Array.from({ length: 20 }, () => ({ replayed: 1 })));
    expect(await queued(payment)).toEqual([first(payment, 1)]);
    await node.close();
  });

  it("429001: the channel's other replays take too long, and nothing was done", async () => {
    const { payment, order } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment, order], 'ACCEPTED');
    const { node, hasTried } = await nodeThatTells({ testLimits: { load: { patienceMs: 1_000 } } });
    const caller = node.client(channel);
    await caller.getToken();
    let first: Promise<Reply> | undefined;
    await database().transaction(async (tx) => {
      // Another node is replaying.
      const [row] = await tx.query<{ id: number }>('select channel_id as id from events where event_no = $1', [
        payment,
      ]);
      expect(await tryLockReplays(tx, row?.id ?? 0)).toBe(true);
      first = replay({ eventIds: [payment] }, caller);
      await hasTried;
      expect((await replay({ eventIds: [order] }, caller)).code).toBe('429001');
    });
    expect((await first)?.data).toEqual({ replayed: 1 });
    expect(await queued(payment, order)).toHaveLength(1);
    await node.close();
  });

  it('0: so often that retryNo reaches its limit, and it is still sent', async () => {
    const { payment } = await createOrderWithEvents(database(), channel);
    await database().query('update due_events set retry_no = 32750 where event_no = $1', [payment]);
    await recordOutcome(database(), [payment], 'GIVE_UP');
    await replayed(payment);
    expect(await queued(payment)).toEqual([first(payment, 32_000)]);
    await database().query(
      `update due_events set retry_no = 32760, next_at = now() + interval '1 hour' where event_no = $1`,
      [payment],
    );
    await replayed(payment);
    expect(await queued(payment)).toEqual([first(payment, 32_000)]);
  });
});

describe('events/replay of periods that were voided together', () => {
  const periods = (range: string, ...cycles: number[]) => cycles.map((cycle) => `${range}-${cycle}`);

  it('0: all of them by their common number, which stays one row', async () => {
    const { range } = await createVoidedPeriods(database(), channel);
    await expandVoidedPeriods(database(), `${range}-2`);
    await recordOutcome(database(), periods(range, 2, 3, 4, 5, 6, 7), 'ACCEPTED');
    expect(await replayed(range)).toBe(6);
    expect(await queued(range)).toEqual([first(`${range}-2..7`, 1)]);
    expect(await replayed(range, ...periods(range, 3, 4))).toBe(6);
    expect(await queued(range)).toEqual([first(`${range}-2..7`, 1)]);
  });

  it('0: one of several that were set aside as one row', async () => {
    const { range } = await createVoidedPeriods(database(), channel);
    await recordOutcome(database(), [`${range}-2`], 'NO_CALLBACK');
    expect(await replayed(`${range}-4`)).toBe(1);
    expect(await queued(range)).toEqual([first(`${range}-4`, 0)]);
    await recordOutcome(database(), [`${range}-4`], 'ACCEPTED');
    expect(await statusOf(`${range}-2`)).toBe('NO_CALLBACK');
    expect(await replayed(...periods(range, 2, 7))).toBe(2);
    expect(await queued(range)).toEqual([first(`${range}-2`, 0), first(`${range}-7`, 0)]);
    const { data } = await replay({ from: '2026-01-01 00:00:00' });
    expect(data.replayed).toBeGreaterThanOrEqual(3);
    expect((await queued(range)).map(({ id }) => id)).toEqual([
      `${range}-2`,
      `${range}-3`,
      `${range}-5..6`,
      `${range}-7`,
    ]);
  });

  it('0: waiting ones are brought forward, finished ones are queued, and none is lost', async () => {
    const { range } = await createVoidedPeriods(database(), channel);
    await expandVoidedPeriods(database(), `${range}-2`);
    await recordOutcome(database(), periods(range, 2, 3), 'ACCEPTED');
    await recordOutcome(database(), periods(range, 4), 'REFUSED');
    await recordOutcome(database(), periods(range, 5), 'GIVE_UP');
    await recordOutcome(database(), periods(range, 6), 'NO_CALLBACK');
    expect(await replayed(range)).toBe(6);
    expect(await queued(range)).toEqual([
      first(`${range}-2..3`, 1),
      first(`${range}-4`, 1),
      first(`${range}-5..6`, 1),
      first(`${range}-7`, 0),
    ]);
    expect(await statusOf(`${range}-2`)).toBe('PENDING');
  });
});

describe('events/replay of a time range', () => {
  it('0: only events that are no longer sent, by time of writing', async () => {
    const other = await anotherChannel(on.service);
    const { payment, order } = await createOrderWithEvents(database(), other);
    const late = await createOrderWithEvents(database(), other);
    const foreign = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment, late.payment, foreign.payment], 'GIVE_UP');
    await recordOutcome(database(), [order], 'NO_CALLBACK');
    await recordOutcome(database(), [late.order], 'REFUSED');
    await database().query(
      `update undelivered_events set recorded_at = '2026-03-01 08:00:00+08' where event_no in ($1, $2)`,
      [payment, order],
    );
    const some = (range: object) => replay(range, other).then(({ data }) => data.replayed);
    expect(await some({ from: '2026-02-01 00:00:00', to: '2026-03-01T00:00:00Z' })).toBe(0);
    expect(await some({ from: '2026-03-01 08:00:01', to: '2026-03-31 00:00:00' })).toBe(0);
    expect(await some({ to: '2026-03-01T00:00:01Z' })).toBe(2);
    expect(await queued(payment, order)).toEqual([first(payment, 1), first(order, 0)]);
    expect(await queued(late.payment)).toEqual([]);
    expect(await some({ from: '2026-03-02 00:00:00' })).toBe(1);
    expect(await queued(late.payment, late.order)).toEqual([
      first(late.payment, 1),
      { id: late.order, step: 1, retryNo: 1, isDue: false },
    ]);
    expect(await some({ from: '2026-01-01 00:00:00' })).toBe(0);
    expect(await queued(foreign.payment)).toEqual([]);
    await recordOutcome(database(), [late.payment], 'GIVE_UP');
    for (const time of EARLIEST) expect(await some({ to: time })).toBe(0);
    expect(await some({ from: EARLIEST[0], to: '9999-12-31 23:59:59' })).toBe(1);
  });
});

describe('events/replay under an Idempotency-Key', () => {
  it('0: runs once, and a resend gets the first answer again', async () => {
    const { payment } = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [payment], 'GIVE_UP');
    const idempotencyKey = unique('key');
    const body = { eventIds: [payment] };
    expect((await replay(body, channel, { idempotencyKey })).data).toEqual({ replayed: 1 });
    await recordOutcome(database(), [payment], 'ACCEPTED');
    const again = await replay(body, channel, { idempotencyKey });
    expect([again.data, again.headers['idempotency-replayed']]).toEqual([{ replayed: 1 }, 'true']);
    expect(await queued(payment)).toEqual([]);
    expect((await replay({ eventIds: [payment, payment] }, channel, { idempotencyKey })).code).toBe('409001');
  });
});

describe('events/replay, refused', () => {
  it('400001: an unknown event, another channel’s, or not an id, with the same message; none is replayed', async () => {
    const mine = await createOrderWithEvents(database(), channel);
    await recordOutcome(database(), [mine.payment], 'GIVE_UP');
    const other = await anotherChannel(on.service);
    const foreign = await createOrderWithEvents(database(), other);
    await recordOutcome(database(), [foreign.payment], 'GIVE_UP');
    const { range } = await createVoidedPeriods(database(), channel);
    const bad = ['999999999999', foreign.payment, 'abc', '0', '-1', `${mine.payment}-1`, `0${mine.payment}`];
    for (const eventId of [...bad, `${range}-1`, `${range}-8`, '9'.repeat(1024)]) {
      const reply = await replay({ eventIds: [mine.payment, eventId] });
      expect([reply.code, reply.envelope.message, reply.data]).toEqual([
        '400001',
        'eventIds has an event that does not exist',
        null,
      ]);
    }
    expect(await queued(mine.payment, foreign.payment)).toEqual([]);
    expect(await statusOf(mine.payment)).toBe('GIVE_UP');
  });
});
