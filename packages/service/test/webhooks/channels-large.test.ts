import type { DeliveryStatus } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EventFilter, EventKey } from '../../src/delivery/history/candidates-sql.js';
import { listEvents } from '../../src/delivery/history/list-sql.js';
import { replayEvents } from '../../src/delivery/queue/replay-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { costOf } from '../support/cost.js';
import { freshDatabase } from '../support/database.js';

const EVENTS = Number(process.env['LISTED_EVENTS'] ?? 20_000);
const RARE = 300;

/**
 * Channel ids. Each channel has many events, almost all in the status after which the constant is named. The few other
 * events are the channel's oldest or newest.
 */
const DELIVERED = 33;
const GIVEN_UP = 49;
const PENDING = 65;
/** A channel whose events all belong to one order. All of them except the oldest have the same type. */
const PAYMENTS = 81;

const orderOf = (channel: number) => channel * 1_000_000;

const fresh = ofFile(() => freshDatabase({ statementMs: 0 }));
beforeAll(async () => {
  const { database } = fresh;
  for (const channel of [DELIVERED, GIVEN_UP, PENDING, PAYMENTS]) {
    const isOrder = channel === PAYMENTS ? `n <= ${RARE}` : 'n % 2 = 0';
    await database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
       select ${channel}, ${orderOf(channel)} + ${channel === PAYMENTS ? 0 : 'n / 4'},
         case when ${isOrder} then 'order.status.changed' else 'payment.status.changed' end, now(), '{}',
         now() - interval '1 h' - (${EVENTS} - n) * interval '1 ms' from generate_series(1, ${EVENTS}) n`,
    );
  }
  // Moves the events to the queue of due events. They were set aside, because the channels have no address.
  await database.query(
    `with aside as (delete from undelivered_events returning *)
     insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, recorded_at)
     select channel_id % 16, recorded_at, event_no, cycle_no, channel_id, order_no, is_payment, recorded_at from aside`,
  );
  // Gives the oldest events of each channel the statuses that are rare in it: RARE events for each status.
  await become(DELIVERED, 0, RARE, 'GIVE_UP');
  await become(DELIVERED, RARE, RARE, 'NO_CALLBACK');
  await become(DELIVERED, 2 * RARE, EVENTS - 2 * RARE - 20, 'DELIVERED');
  await become(GIVEN_UP, 0, RARE, 'DELIVERED');
  await become(GIVEN_UP, 2 * RARE, EVENTS, 'GIVE_UP');
  await become(PENDING, 0, RARE, 'DELIVERED');
  await become(PENDING, RARE, RARE, 'GIVE_UP');
  await become(PAYMENTS, 0, EVENTS, 'DELIVERED');
  // Half of the events that the channel DELIVERED still has in the queue wait for a retry.
  await database.query(
    `update due_events set next_at = next_at + interval '2 hours', step = 5 where channel_id = ${DELIVERED} and event_no % 2 = 0`,
  );
  await database.query('vacuum analyze');
}, 300_000);

/** Gives `count` events of a channel this status, in order of age, after skipping the `skipped` oldest. */
async function become(channel: number, skipped: number, count: number, status: DeliveryStatus): Promise<void> {
  const gone = `with gone as (delete from due_events where (shard, next_at, event_no, cycle_no) in (
      select shard, next_at, event_no, cycle_no from due_events where channel_id = ${channel} and recorded_at >= (
        select recorded_at from events where channel_id = ${channel} order by recorded_at offset ${skipped} limit 1)
      order by recorded_at limit ${count}) returning *)`;
  await fresh.database.query(
    status === 'DELIVERED'
      ? `${gone} insert into delivery_attempts
           (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome)
         select channel_id, event_no, recorded_at, is_payment, 0, 0, 200, 5, recorded_at + interval '1 s', 'ACCEPTED' from gone`
      : `${gone} insert into undelivered_events
           (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
         select channel_id, event_no, 0, order_no, is_payment, recorded_at, 10, '${status}' from gone`,
  );
}

/** Expects that a page of `count` events reads little more than it shows. */
async function expectLittle(count: number, ...asked: Parameters<typeof page>): Promise<void> {
  const { result, rows, pages } = await page(...asked);
  expect(result).toHaveLength(count);
  expect(rows).toBeLessThan(1_500);
  expect(pages).toBeLessThan(8_000);
}

const page = (channel: number, filter: EventFilter, after?: EventKey, offset = 0) =>
  costOf(fresh.database, (db) => listEvents(db, channel, filter, 101, { after, offset }));

/** Returns the key of the event that follows the `oldest` oldest events. */
async function keyBefore(channel: number, oldest: number): Promise<EventKey> {
  const [row] = await fresh.database.query<{ at: number; no: number }>(
    `select (extract(epoch from recorded_at) * 1000000)::bigint as at, event_no as no from events
     where channel_id = ${channel} order by recorded_at offset ${oldest} limit 1`,
  );
  return [row?.at ?? 0, row?.no ?? 0];
}

/** Returns when the event that keyBefore finds was written, in Unix milliseconds. */
async function msOf(channel: number, oldest: number): Promise<number> {
  const [at] = await keyBefore(channel, oldest);
  return Math.floor(at / 1000);
}

describe('a page of a channel with many events reads little more than what it shows', () => {
  const orders = { eventType: 'order.status.changed' } as const;
  it.each<[string, number, EventFilter, number]>([
    ['without a filter', DELIVERED, {}, 101],
    ['of one type', DELIVERED, orders, 101],
    ['of the rare type', PAYMENTS, orders, 101],
    ['DELIVERED, as are nearly all', DELIVERED, { status: 'DELIVERED' }, 101],
    ['DELIVERED, as are few, behind all that were given up', GIVEN_UP, { status: 'DELIVERED' }, 101],
    ['DELIVERED, as are few, behind all that wait', PENDING, { status: 'DELIVERED' }, 101],
    ['DELIVERED of the rare type', PAYMENTS, { status: 'DELIVERED', ...orders }, 101],
    ['PENDING, as are nearly all', PENDING, { status: 'PENDING' }, 101],
    ['PENDING, as are few', DELIVERED, { status: 'PENDING' }, 20],
    ['PENDING of one type', DELIVERED, { status: 'PENDING', ...orders }, 10],
    ['PENDING, as is none', PAYMENTS, { status: 'PENDING' }, 0],
    ['GIVE_UP, as are nearly all', GIVEN_UP, { status: 'GIVE_UP' }, 101],
    ['GIVE_UP, as are few', DELIVERED, { status: 'GIVE_UP' }, 101],
    ['GIVE_UP of one type', PENDING, { status: 'GIVE_UP', ...orders }, 101],
    ['NO_CALLBACK', DELIVERED, { status: 'NO_CALLBACK' }, 101],
    ['of one order', DELIVERED, { orderNo: orderOf(DELIVERED) + 500 }, 4],
    ['of one order, DELIVERED', DELIVERED, { orderNo: orderOf(DELIVERED) + 500, status: 'DELIVERED' }, 4],
    ['of a long order', PAYMENTS, { orderNo: orderOf(PAYMENTS) }, 101],
    ['of a long order, DELIVERED', PAYMENTS, { orderNo: orderOf(PAYMENTS), status: 'DELIVERED' }, 101],
  ])('%s', async (_which, channel, filter, count) => {
    await expectLittle(count, channel, filter);
  });

  it.each<[string, number, EventFilter]>([
    ['without a filter', DELIVERED, {}],
    ['of one type', DELIVERED, orders],
    ['DELIVERED', DELIVERED, { status: 'DELIVERED' }],
    ['PENDING', PENDING, { status: 'PENDING' }],
    ['GIVE_UP', GIVEN_UP, { status: 'GIVE_UP' }],
  ])('by cursor, far behind the newest: %s', async (_which, channel, filter) => {
    await expectLittle(101, channel, filter, await keyBefore(channel, 5 * RARE));
  });

  it.each<[string, EventFilter]>([
    ['without another filter', {}],
    ['of one type', orders],
    ['DELIVERED', { status: 'DELIVERED' }],
    ['DELIVERED of one type', { status: 'DELIVERED', ...orders }],
  ])('of a time range long before the newest: %s', async (_which, filter) => {
    const range = { from: await msOf(DELIVERED, 1_000), to: await msOf(DELIVERED, 2_000) };
    await expectLittle(101, DELIVERED, { ...filter, ...range });
  });

  it('by page number: only the events of the pages before are read', async () => {
    const { result, rows } = await page(DELIVERED, {}, undefined, 5_000);
    expect(result).toHaveLength(101);
    expect(rows).toBeLessThan(5_000 + 1_500);
  });

  it('by page number with a status, which is checked for each event: the same as by cursor', async () => {
    const { result } = await page(DELIVERED, { status: 'DELIVERED' }, undefined, 5_000);
    const before = await page(DELIVERED, { status: 'DELIVERED' }, undefined, 4_900);
    const last = before.result[99];
    const byCursor = await page(DELIVERED, { status: 'DELIVERED' }, [last?.recordedMicros ?? 0, last?.eventNo ?? 0]);
    expect(result).toEqual(byCursor.result);
    expect((await page(DELIVERED, { status: 'DELIVERED' }, undefined, EVENTS)).result).toEqual([]);
  });

  it('a replay of some of them reads little too', async () => {
    const nos = await fresh.database.query<{ no: number }>(
      `select event_no as no from events where channel_id = ${DELIVERED} order by recorded_at`,
    );
    const eventNos = [1, 2, RARE + 1, 5_000, EVENTS - 15, EVENTS - 5].map((place) => nos[place]?.no ?? 0);
    const references = eventNos.map((eventNo) => ({ eventNo, cycleNo: undefined }));
    let rows = 0;
    await fresh.database.transaction(async (tx) => {
      const touched = async () => {
        const [row] = await tx.query<{ rows: number }>(
          'select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as rows from pg_stat_xact_user_tables',
        );
        return row?.rows ?? 0;
      };
      const before = await touched();
      expect(await replayEvents(tx, DELIVERED, references)).toEqual({ found: 6, replayed: 6 });
      rows = (await touched()) - before;
    });
    expect(rows).toBeLessThan(200);
  });
});
