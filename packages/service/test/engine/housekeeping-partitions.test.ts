import { beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { freshDatabase } from '../support/database.js';
import * as table from './partitions.js';

/**
 * Events and pushes have weekly partitions, requests have daily partitions. Housekeeping treats them alike;
 * housekeeping-events.test.ts tests the rest.
 */
const RETENTION = 30;
const KEPT_FROM = `date_trunc('week', now() - interval '${RETENTION} days', 'Asia/Shanghai')`;
const TODAY = `date_trunc('day', now(), 'Asia/Shanghai')`;

const fresh = ofEachTest(() => freshDatabase());
let tidy: ReturnType<typeof createHousekeeping>;
const keeper = (eventsRetentionDays: number) =>
  createHousekeeping({ database: fresh.database, log: capturedLog().log, eventsRetentionDays });
beforeEach(() => {
  tidy = keeper(RETENTION);
});

const record = (at: string, count = 1) =>
  fresh.database.query(
    `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
     select 1, n, 'order.status.changed', now(), '{"n":' || n || '}', ${at} from generate_series(1, ${count}) n`,
  );
const push = (at: string, count = 1) =>
  fresh.database.query(
    `insert into delivery_attempts
       (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome)
     select 1, n, ${at}, true, 0, 0, 200, 5, ${at}, 'ACCEPTED' from generate_series(1, ${count}) n`,
  );
const log = (at: string, count = 1) =>
  fresh.database.query(
    `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, address)
     select ${at}, 1, '/x', '0', 200, 1, n::text, '127.0.0.1' from generate_series(1, ${count}) n`,
  );

const partitions = (name: string) => table.partitions(fresh, name);
const losePartitions = (name: string) => table.losePartitions(fresh, name);
const everything = (name: string) => fresh.database.query(`select t::text as row from ${name} t order by 1`);

/** Returns the partitions that contain rows. */
async function places(table: string): Promise<string[]> {
  const rows = await fresh.database.query<{ place: string }>(
    `select distinct tableoid::regclass::text as place from ${table} order by 1`,
  );
  return rows.map(({ place }) => place);
}

describe.each([
  { table: 'events', put: record, ahead: 5, made: 'eventWeeksMade', gathered: 'strayEventsGathered' },
  { table: 'delivery_attempts', put: push, ahead: 5, made: 'attemptWeeksMade', gathered: 'strayAttemptsGathered' },
  { table: 'request_log', put: log, ahead: 4, made: 'requestDaysMade', gathered: 'strayRequestsGathered' },
])('$table', ({ table, put, ahead, made, gathered }) => {
  it('has its partitions of the current and some future periods', async () => {
    const names = await partitions(table);
    expect(names).toHaveLength(ahead);
    expect(await tidy()).toEqual({});
    await losePartitions(table);
    expect(await tidy()).toEqual({ [made]: ahead });
    expect(await partitions(table)).toEqual(names);
  });

  it.each([
    ['few', 20],
    ['many', 10_001],
  ])('%s rows without a partition get one, unchanged, and later rows are written there', async (_which, count) => {
    const names = await partitions(table);
    await losePartitions(table);
    await put('now()', count);
    expect(await places(table)).toEqual([`${table}_default`]);
    const before = await everything(table);
    expect(await tidy()).toEqual({ [gathered]: count, [made]: ahead - 1 });
    expect(await everything(table)).toEqual(before);
    expect(await partitions(table)).toEqual(names);
    await put('now()');
    expect(await places(table)).toEqual([names[0]]);
    expect(await tidy()).toEqual({});
  });
});

describe('pushes', () => {
  it('have the same weeks as events', async () => {
    const weeks = (await partitions('events')).map((name) => name.replace('events', 'delivery_attempts'));
    expect(await partitions('delivery_attempts')).toEqual(weeks);
  });

  it('are dropped with their week after the retention, by their own time', async () => {
    const ahead = await partitions('delivery_attempts');
    await push(`${KEPT_FROM} - interval '1 microsecond'`, 3);
    await push(KEPT_FROM, 2);
    expect(await tidy()).toEqual({ strayAttemptsDeleted: 3, strayAttemptsGathered: 2 });
    const [kept = ''] = await places('delivery_attempts');
    expect(await partitions('delivery_attempts')).toEqual([kept, ...ahead]);
    expect(await keeper(RETENTION - 7)()).toEqual({ attemptWeeksDropped: 1 });
    expect(await partitions('delivery_attempts')).toEqual(ahead);
  });
});

describe('undelivered events', () => {
  it('are deleted together with their events, and not before', async () => {
    const put = (recordedAt: string, first: number, count: number) =>
      fresh.database.query(
        `insert into undelivered_events (channel_id, event_no, cycle_no, order_no, is_payment, recorded_at, retry_no, reason)
         select 1, n, 0, 1, true, ${recordedAt}, 10, 'GIVE_UP' from generate_series(${first}, ${first + count - 1}) n`,
      );
    await put(`${KEPT_FROM} - interval '1 microsecond'`, 1, 1500);
    await put(KEPT_FROM, 5000, 2);
    expect(await tidy()).toEqual({ undeliveredDeleted: 1500 });
    expect(await tidy()).toEqual({});
    const left = await fresh.database.query('select event_no from undelivered_events order by 1');
    expect(left).toEqual([{ event_no: 5000 }, { event_no: 5001 }]);
  });
});

describe('the request log', () => {
  it('creates no filter of request ids for its first calls: none exists until a range is full', async () => {
    await losePartitions('request_log');
    await tidy();
    const [day] = await partitions('request_log');
    await log(TODAY, 100);
    const summarized = await fresh.database.query<{ made: number }>(
      `select sum(brin_summarize_new_values(i.indexrelid))::integer as made
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
       where i.indrelid = $1::regclass and m.amname = 'brin'`,
      [day],
    );
    expect(summarized).toEqual([{ made: 1 }]);
  });

  it('is deleted seven days after the end of its day, one day in each run', async () => {
    for (const ago of [7, 8, 9]) await log(`${TODAY} - interval '${ago} days'`);
    // Rows that are already too old are deleted, not moved to a partition.
    expect(await tidy()).toMatchObject({ strayRequestsDeleted: 2, strayRequestsGathered: 1 });
    expect(await fresh.database.query('select from request_log')).toHaveLength(1);
    for (const ago of [8, 9]) {
      await fresh.database.query(
        `do $$ begin execute format('create table request_log_%s partition of request_log for values from (%L) to (%L)',
           to_char((${TODAY} - interval '${ago} days') at time zone 'Asia/Shanghai', 'YYYYMMDD'),
           ${TODAY} - interval '${ago} days', ${TODAY} - interval '${ago - 1} days'); end $$`,
      );
      await log(`${TODAY} - interval '${ago} days'`);
    }
    const [, older, ...kept] = await partitions('request_log');
    expect(await tidy()).toEqual({ requestDaysDropped: 1 });
    expect(await partitions('request_log')).toEqual([older, ...kept]);
    expect(await tidy()).toEqual({ requestDaysDropped: 1 });
    expect(await partitions('request_log')).toEqual(kept);
    expect(await tidy()).toEqual({});
  });
});
