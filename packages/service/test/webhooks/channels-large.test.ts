import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventFilter } from '../../src/webhooks/candidates-sql.js';
import { listEvents } from '../../src/webhooks/history-sql.js';
import { replayEvents } from '../../src/webhooks/replay-sql.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

/** One channel that was told a lot: nearly all delivered, some given up long ago and some put aside, a few still to come. */
const EVENTS = Number(process.env['LISTED_EVENTS'] ?? 20_000);
const CHANNEL = 33;
const SPECIAL = 300;

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
  const { database } = fresh;
  await database.query('set statement_timeout = 0');
  const fill = (channel: number, count: number) =>
    database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
       select ${channel}, n / 4, case when n % 2 = 0 then 'order.status.changed' else 'payment.status.changed' end, now(), '{}',
         now() - (${count} - n) * interval '1 s' from generate_series(1, ${count}) n`,
    );
  await fill(CHANNEL, EVENTS);
  await fill(CHANNEL + 1, 2_000);
  // The oldest are not sent any more, the newest are still waiting, some of them for another turn.
  await database.query(
    `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
     select channel_id, event_no, 0, order_no, is_payment, recorded_at, 10,
       case when event_no <= ${SPECIAL} then 'GIVE_UP' else 'NO_CALLBACK' end
     from due_events where channel_id = ${CHANNEL} and event_no <= ${2 * SPECIAL}`,
  );
  await database.query(
    `insert into delivery_attempts (channel_id, event_no, cycle_no, retry_no, http_status, latency_ms, at, outcome)
     select channel_id, event_no, 0, 0, 200, 5, recorded_at + interval '1 s', 'ACCEPTED' from due_events
     where event_no between ${2 * SPECIAL + 1} and ${EVENTS - 20}`,
  );
  await database.query(`delete from due_events where channel_id <> ${CHANNEL} or event_no <= ${EVENTS - 20}`);
  await database.query(
    `update due_events set next_at = next_at + interval '1 hour', step = 5 where event_no > ${EVENTS - 10}`,
  );
  await database.query('analyze');
}, 120_000);
afterAll(() => fresh.close());

/** What was done, and how many rows it took. */
async function cost<T>(
  work: (tx: Parameters<typeof listEvents>[0]) => Promise<T>,
): Promise<{ result: T; rows: number }> {
  return fresh.database.transaction(async (tx) => {
    const touched = async () => {
      const [row] = await tx.query<{ rows: number }>(
        'select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as rows from pg_stat_xact_user_tables',
      );
      return row?.rows ?? 0;
    };
    const before = await touched();
    const result = await work(tx);
    return { result, rows: (await touched()) - before };
  });
}
const page = (filter: EventFilter, offset = 0) => cost((tx) => listEvents(tx, CHANNEL, filter, 101, offset));

describe('a page of a channel with many events reads little more than what it shows', () => {
  it.each<[string, EventFilter, number]>([
    ['without a filter', {}, 101],
    ['of one type', { eventType: 'order.status.changed' }, 101],
    ['DELIVERED', { status: 'DELIVERED' }, 101],
    ['PENDING', { status: 'PENDING' }, 20],
    ['GIVE_UP', { status: 'GIVE_UP' }, 101],
    ['NO_CALLBACK', { status: 'NO_CALLBACK' }, 101],
    ['GIVE_UP of one type', { status: 'GIVE_UP', eventType: 'order.status.changed' }, 101],
    ['of one order', { orderNo: 500 }, 4],
    ['of one order, DELIVERED', { orderNo: 500, status: 'DELIVERED' }, 4],
  ])('%s', async (_which, filter, count) => {
    const { result, rows } = await page(filter);
    expect(result).toHaveLength(count);
    expect(rows).toBeLessThan(1_500);
  });

  it('far behind too: of the pages before it, nothing but the events is read', async () => {
    const { result, rows } = await page({}, 5_000);
    expect(result).toHaveLength(101);
    expect(rows).toBeLessThan(5_000 + 1_500);
  });

  it('and a replay of some of them does as well', async () => {
    const eventNos = [1, 2, SPECIAL + 1, 5_000, EVENTS - 15, EVENTS - 5];
    const { result, rows } = await cost((tx) =>
      replayEvents(
        tx,
        CHANNEL,
        eventNos.map((eventNo) => ({ eventNo, cycleNo: undefined })),
      ),
    );
    expect(result).toEqual({ found: 6, replayed: 6 });
    expect(rows).toBeLessThan(200);
  });
});
