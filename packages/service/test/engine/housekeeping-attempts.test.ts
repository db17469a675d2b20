import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { capturedLog } from '../support/captured-log.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

/** The weeks of pushes are kept like those of events, which housekeeping-events.test.ts goes through in full. */
const RETENTION = 30;
const KEPT_FROM = `date_trunc('week', now() - interval '${RETENTION} days', 'Asia/Shanghai')`;

let fresh: FreshDatabase;
let tidy: ReturnType<typeof createHousekeeping>;
beforeEach(async () => {
  fresh = await freshDatabase();
  tidy = createHousekeeping({ database: fresh.database, log: capturedLog().log, eventsRetentionDays: RETENTION });
});
afterEach(() => fresh.close());

const push = (at: string, count = 1) =>
  fresh.database.query(
    `insert into delivery_attempts
       (channel_id, event_no, recorded_at, is_payment, cycle_no, retry_no, http_status, latency_ms, at, outcome)
     select 1, n, ${at}, true, 0, 0, 200, 5, ${at}, 'ACCEPTED' from generate_series(1, ${count}) n`,
  );

async function weeks(table = 'delivery_attempts'): Promise<string[]> {
  const rows = await fresh.database.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = '${table}'::regclass and c.relname <> '${table}_default' order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function loseWeeks(): Promise<void> {
  for (const name of await weeks()) await fresh.database.query(`drop table ${name}`);
}

/** Where pushes are, without repetition. */
const places = async () =>
  (
    await fresh.database.query<{ place: string }>(
      'select distinct tableoid::regclass::text as place from delivery_attempts order by 1',
    )
  ).map(({ place }) => place);

describe('pushes', () => {
  it('have the same weeks as events, made ahead', async () => {
    const ahead = (await weeks('events')).map((name) => name.replace('events', 'delivery_attempts'));
    expect(await weeks()).toEqual(ahead);
    expect(await tidy()).toEqual({});
    await loseWeeks();
    expect(await tidy()).toEqual({ attemptWeeksMade: 5 });
    expect(await weeks()).toEqual(ahead);
  });

  it.each([
    ['few', 20],
    ['many', 10_001],
  ])('that had no week, %s of them, get one', async (_which, count) => {
    const ahead = await weeks();
    await loseWeeks();
    await push('now()', count);
    expect(await places()).toEqual(['delivery_attempts_default']);
    expect(await tidy()).toEqual({ strayAttemptsGathered: count, attemptWeeksMade: 4 });
    expect(await places()).toEqual([ahead[0]]);
    expect(await weeks()).toEqual(ahead);
    await push('now()');
    expect(await places()).toEqual([ahead[0]]);
    expect(await tidy()).toEqual({});
  });

  it('are dropped with their week after the retention, by when they were made', async () => {
    const ahead = await weeks();
    await push(`${KEPT_FROM} - interval '1 microsecond'`, 3);
    await push(KEPT_FROM, 2);
    expect(await tidy()).toEqual({ strayAttemptsDeleted: 3, strayAttemptsGathered: 2 });
    const [kept = ''] = await places();
    expect(await weeks()).toEqual([kept, ...ahead]);
    const shorter = createHousekeeping({
      database: fresh.database,
      log: capturedLog().log,
      eventsRetentionDays: RETENTION - 7,
    });
    expect(await shorter()).toEqual({ attemptWeeksDropped: 1 });
    expect(await weeks()).toEqual(ahead);
  });
});

describe('what is not sent any more', () => {
  it('is forgotten together with its events, and not before', async () => {
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
