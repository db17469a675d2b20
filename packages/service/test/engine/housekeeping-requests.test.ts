import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { capturedLog } from '../support/captured-log.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

/** The log of requests has a partition for each day, kept like the weeks of events: housekeeping-events.test.ts. */
let fresh: FreshDatabase;
let tidy: ReturnType<typeof createHousekeeping>;
beforeEach(async () => {
  fresh = await freshDatabase();
  tidy = createHousekeeping({ database: fresh.database, log: capturedLog().log });
});
afterEach(() => fresh.close());

const log = (at: string, count = 1) =>
  fresh.database.query(
    `insert into request_log (at, channel_id, endpoint, code, http_status, duration_ms, request_id, address)
     select ${at}, 1, '/x', '0', 200, 1, n::text, '127.0.0.1' from generate_series(1, ${count}) n`,
  );
const today = `date_trunc('day', now(), 'Asia/Shanghai')`;

async function days(): Promise<string[]> {
  const rows = await fresh.database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'request_log'::regclass and c.relname <> 'request_log_default' order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function loseDays(): Promise<void> {
  for (const name of await days()) await fresh.database.query(`drop table ${name}`);
}

const places = async () =>
  (
    await fresh.database.query<{ place: string }>(
      'select distinct tableoid::regclass::text as place from request_log order by 1',
    )
  ).map(({ place }) => place);

describe('what channels have called', () => {
  it('has the day of today and three ahead', async () => {
    const ahead = await days();
    expect(ahead).toHaveLength(4);
    expect(await tidy()).toEqual({});
    await loseDays();
    expect(await tidy()).toEqual({ requestDaysMade: 4 });
    expect(await days()).toEqual(ahead);
  });

  it('writes no filter of request ids for its first calls: none is there until a range is full', async () => {
    await loseDays();
    await tidy();
    const [day] = await days();
    await log(today, 100);
    const summarized = await fresh.database.query<{ made: number }>(
      `select sum(brin_summarize_new_values(i.indexrelid))::integer as made
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
       where i.indrelid = $1::regclass and m.amname = 'brin'`,
      [day],
    );
    expect(summarized).toEqual([{ made: 1 }]);
  });

  it.each([
    ['few', 20],
    ['many', 10_001],
  ])('without a day, %s of them, gets one', async (_which, count) => {
    const [first] = await days();
    await loseDays();
    await log(today, count);
    expect(await places()).toEqual(['request_log_default']);
    expect(await tidy()).toEqual({ strayRequestsGathered: count, requestDaysMade: 3 });
    expect(await places()).toEqual([first]);
  });

  it('goes seven days after the end of its day, a day in each run', async () => {
    for (const ago of [7, 8, 9]) await log(`${today} - interval '${ago} days'`);
    // Those that are too old already are not gathered at all.
    expect(await tidy()).toMatchObject({ strayRequestsDeleted: 2, strayRequestsGathered: 1 });
    expect(await fresh.database.query('select from request_log')).toHaveLength(1);
    for (const ago of [8, 9]) {
      await fresh.database.query(
        `do $$ begin execute format('create table request_log_%s partition of request_log for values from (%L) to (%L)',
           to_char((${today} - interval '${ago} days') at time zone 'Asia/Shanghai', 'YYYYMMDD'),
           ${today} - interval '${ago} days', ${today} - interval '${ago - 1} days'); end $$`,
      );
      await log(`${today} - interval '${ago} days'`);
    }
    const [oldest, older, ...kept] = await days();
    expect(await tidy()).toEqual({ requestDaysDropped: 1 });
    expect(await days()).toEqual([older, ...kept]);
    expect(await tidy()).toEqual({ requestDaysDropped: 1 });
    expect(await days()).toEqual(kept);
    expect(await tidy()).toEqual({});
    expect([oldest, older].some((name) => kept.includes(name ?? ''))).toBe(false);
  });
});
