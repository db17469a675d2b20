import { beforeEach, describe, expect, it } from 'vitest';
import { createHousekeeping } from '../../src/engine/housekeeping.js';
import { type Database, openDatabase, type Queryable } from '../../src/platform/db/database.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { lockWaits } from '../support/database.js';
import { installation } from '../support/installation.js';
import { until } from '../support/processes.js';
import { losePartitions, partitions } from './partitions.js';

const RETENTION = 30;

const fresh = ofEachTest(() => installation());
let log: CapturedLog;
let tidy: ReturnType<typeof createHousekeeping>;
const keeper = (database: Database) => createHousekeeping({ database, log: log.log, eventsRetentionDays: RETENTION });
beforeEach(() => {
  log = capturedLog();
  tidy = keeper(fresh.database);
});

/** Returns SQL for midnight of a Monday in Asia/Shanghai, `weeks` weeks from now by the database's clock. */
const monday = (weeks: number) =>
  `(date_trunc('week', now() at time zone 'Asia/Shanghai') + ${weeks} * interval '7 days') at time zone 'Asia/Shanghai'`;
/** SQL for the start of the week that contains the oldest moment within the retention. */
const KEPT_FROM = `date_trunc('week', now() - interval '${RETENTION} days', 'Asia/Shanghai')`;

async function one<T>(expression: string): Promise<T> {
  const [row] = await fresh.database.query<{ value: T }>(`select ${expression} as value`);
  return row?.value as T;
}
const nameOf = (moment: string) => one<string>(`'events_' || to_char(${moment}, 'YYYYMMDD')`);
const namesAhead = async () => Promise.all([0, 1, 2, 3, 4].map((week) => nameOf(monday(week))));

/** Creates a week's partition, as a node would have done in time. */
async function makeWeek(from: string): Promise<string> {
  const name = await nameOf(from);
  const [low, high] = [await one<string>(`(${from})::text`), await one<string>(`(${from} + interval '7 days')::text`)];
  await fresh.database.query(`create table ${name} partition of events for values from ('${low}') to ('${high}')`);
  return name;
}

const weeks = () => partitions(fresh, 'events');
const loseWeeks = () => losePartitions(fresh, 'events');

/** Inserts events. Deletes all undelivered events, because they have their own housekeeping. */
async function record(recordedAt: string, count = 1): Promise<void> {
  await fresh.database.query(
    `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at)
     select 1, n, 'SUBSCRIPTION_STATUS_CHANGED', now(), '{"n":' || n || '}', ${recordedAt} from generate_series(1, ${count}) n`,
  );
  await fresh.database.query('truncate undelivered_events');
}

/** Returns the partition of each event, in the order of insertion. */
const places = async () =>
  (
    await fresh.database.query<{ place: string }>(
      'select tableoid::regclass::text as place from events order by event_no',
    )
  ).map(({ place }) => place);
const everything = () => fresh.database.query('select * from events order by event_no');
/** Runs housekeeping on many nodes at once. Returns a function that sums up what they did in a chore. */
async function tidyAtOnce() {
  const nodes = Array.from({ length: 6 }, () => openDatabase({ url: fresh.url, pool: 2, name: 'node' }));
  const done = await Promise.all(nodes.map((node) => keeper(node)()));
  await Promise.all(nodes.map((node) => node.close()));
  expect(log.lines().filter(({ level }) => level !== 'info')).toEqual([]);
  return (chore: keyof Awaited<ReturnType<typeof tidy>>) => done.reduce((sum, one) => sum + (one[chore] ?? 0), 0);
}
const inDefault = () => one<number>('(select count(*) from events_default)');

describe('the weeks ahead', () => {
  it('are created by one of many concurrent nodes, and none of them fails', async () => {
    await loseWeeks();
    await record('now()', 3);
    const sum = await tidyAtOnce();
    expect([sum('strayEventsGathered'), sum('eventWeeksMade')]).toEqual([3, 4]);
    expect(await weeks()).toEqual(await namesAhead());
    expect(await inDefault()).toBe(0);
  });

  it('are created as soon as a node starts, and an old one is dropped by its setting', async () => {
    await loseWeeks();
    await makeWeek(`${KEPT_FROM} - interval '7 days'`);
    const kept = await makeWeek(KEPT_FROM);
    fresh.node({ EVENTS_RETENTION_DAYS: String(RETENTION) });
    const expected = [kept, ...(await namesAhead())].join();
    await until('the weeks are those', async () => (await weeks()).join() === expected);
  });

  it('wait while an event is being written, and do not block later requests', async () => {
    await loseWeeks();
    const write = (tx: Queryable) =>
      tx.query(
        `insert into events (channel_id, order_no, event_type, occurred_at, data) values (1, 1, 'X', now(), '{}')`,
      );
    await fresh.database.transaction(async (tx) => {
      await write(tx);
      let given: unknown;
      const tidied = tidy().then((done) => {
        given = done;
      });
      const waiting = async () => (await lockWaits(fresh.database)) > 0;
      await until('housekeeping waits or has given up', async () => given !== undefined || (await waiting()));
      await fresh.database.transaction(async (next) => {
        await next.query(`set local lock_timeout = '5s'`);
        await write(next);
      });
      await tidied;
      expect(given).toEqual({});
    });
    expect(log.text()).toBe('');
    expect(await tidy()).toEqual({ strayEventsGathered: 2, eventWeeksMade: 4 });
  });
});

describe('events of a week without a partition', () => {
  it('are moved each to its own: past and future weeks, and both sides of midnight', async () => {
    await loseWeeks();
    const moments = [
      monday(-2),
      `${monday(-1)} - interval '1 microsecond'`,
      monday(-1),
      monday(0),
      monday(3),
      monday(200),
    ];
    for (const moment of moments) await record(moment);
    expect(await tidy()).toEqual({ strayEventsGathered: 6, eventWeeksMade: 3 });
    const expected = [-2, -2, -1, 0, 3, 200].map((week) => nameOf(monday(week)));
    expect(await places()).toEqual(await Promise.all(expected));
    expect(await inDefault()).toBe(0);
    expect(await tidy()).toEqual({});
  });

  it('stay in their table if they are many, which becomes the partition of their weeks', async () => {
    await loseWeeks();
    for (const moment of [monday(-3), `${monday(-2)} - interval '1 microsecond'`, 'now()']) await record(moment, 3400);
    const before = await everything();
    const table = await one<number>(`'events_default'::regclass::oid`);
    expect(await tidy()).toEqual({ strayEventsGathered: 10_200, eventWeeksMade: 4 });
    expect(await everything()).toEqual(before);
    const [week = ''] = await namesAhead();
    expect(await one<number>(`'${week}'::regclass::oid`)).toBe(table);
    await record('now()', 2);
    expect(new Set(await places())).toEqual(new Set([week]));
    expect(await weeks()).toEqual(await namesAhead());
    expect(await tidy()).toEqual({});
  });

  it('that may happen again, with the same retention as for other weeks', async () => {
    await record(`${KEPT_FROM} + interval '7 days'`, 10_001);
    await tidy();
    await record(`${KEPT_FROM} - interval '1 microsecond'`, 10_001);
    const hasty = createHousekeeping({ database: fresh.database, log: log.log, eventsRetentionDays: RETENTION + 7 });
    expect(await hasty()).toEqual({ strayEventsGathered: 10_001 });
    expect(await weeks()).toHaveLength(7);
    expect(await tidy()).toEqual({ eventWeeksDropped: 1 });
    const kept = await nameOf(`${KEPT_FROM} + interval '7 days'`);
    expect(new Set(await places())).toEqual(new Set([kept]));
  });

  it.each([
    ['before and after a week that is there', [-2], [-3, 0]],
    ['of this week and of one to come', [], [0, 9]],
  ])('many, %s, are moved anyway', async (_which, there, astray) => {
    await loseWeeks();
    for (const week of there) await makeWeek(monday(week));
    for (const week of astray) await record(monday(week), 5100);
    const before = await everything();
    expect((await tidy()).strayEventsGathered).toBe(10_200);
    expect(await everything()).toEqual(before);
    expect(await weeks()).toEqual(expect.arrayContaining(await namesAhead()));
    const expected = await Promise.all(astray.map((week) => nameOf(monday(week))));
    expect([...new Set(await places())]).toEqual(expected);
    expect(await tidy()).toEqual({});
  });

  it('are seen exactly once by concurrent readers', async () => {
    const readers = openDatabase({ url: fresh.url, pool: 6, name: 'readers' });
    await loseWeeks();
    await record('now()', 2000);
    for (let round = 1; round <= 5; round += 1) {
      let moved = false;
      const seen = new Set<number>();
      const reading = Array.from({ length: 6 }, async () => {
        while (!moved) {
          const [row] = await readers.query<{ n: number }>('select count(*) as n from events');
          seen.add(row?.n ?? -1);
        }
      });
      while (!moved) moved = (await tidy()).strayEventsGathered === 2000;
      await Promise.all(reading);
      expect([...seen]).toEqual([2000]);
      // Moves the events back to the default partition for another round.
      await fresh.database.transaction(async (tx) => {
        await tx.query('create temporary table kept on commit drop as select * from events');
        for (const name of await weeks()) await tx.query(`drop table ${name}`);
        await tx.query('insert into events select * from kept');
        await tx.query('delete from undelivered_events');
      });
    }
    await readers.close();
  });

  it('are deleted in steps once their week is past the retention, and not before', async () => {
    await record(`${KEPT_FROM} - interval '1 microsecond'`, 1500);
    await record(`${KEPT_FROM} - interval '400 days'`, 1000);
    await record(KEPT_FROM, 10_001);
    expect(await tidy()).toEqual({ strayEventsDeleted: 2500, strayEventsGathered: 10_001 });
    const week = await nameOf(KEPT_FROM);
    expect(new Set(await places())).toEqual(new Set([week]));
    expect(await tidy()).toEqual({});
  });
});

describe('weeks that are over', () => {
  it('are dropped when entirely past the retention, one in a run, the oldest first', async () => {
    const kept = await makeWeek(KEPT_FROM);
    const last = await makeWeek(`${KEPT_FROM} - interval '7 days'`);
    const first = await makeWeek(`${KEPT_FROM} - interval '210 days'`);
    await record(`${KEPT_FROM} - interval '210 days'`, 3);
    await record(`${KEPT_FROM} - interval '1 microsecond'`, 3);
    await record(KEPT_FROM, 2);
    await record('now()');
    expect(await tidy()).toEqual({ eventWeeksDropped: 1 });
    expect(await weeks()).toEqual([last, kept, ...(await namesAhead())]);
    expect(await tidy()).toEqual({ eventWeeksDropped: 1 });
    expect(await tidy()).toEqual({});
    expect(await weeks()).toEqual([kept, ...(await namesAhead())]);
    expect(await weeks()).not.toContain(first);
    const [week = ''] = await namesAhead();
    expect(await places()).toEqual([kept, kept, week]);
    expect(log.lines().at(-1)).toMatchObject({ level: 'info', msg: 'housekeeping', eventWeeksDropped: 1 });
  });

  it('are dropped once by many concurrent nodes, and none of them fails', async () => {
    await makeWeek(`${KEPT_FROM} - interval '70 days'`);
    const sum = await tidyAtOnce();
    expect(sum('eventWeeksDropped')).toBe(1);
    expect(await weeks()).toEqual(await namesAhead());
  });

  it('wait while they are being read', async () => {
    const old = await makeWeek(`${KEPT_FROM} - interval '70 days'`);
    await fresh.database.transaction(async (tx) => {
      await tx.query('select count(*) from events');
      expect(await tidy()).toEqual({});
    });
    expect(log.text()).toBe('');
    expect(await weeks()).toContain(old);
    expect(await tidy()).toEqual({ eventWeeksDropped: 1 });
  });

  it('are kept for 180 days by default', async () => {
    const young = await makeWeek(`date_trunc('week', now() - interval '180 days', 'Asia/Shanghai')`);
    const old = await makeWeek(`date_trunc('week', now() - interval '180 days', 'Asia/Shanghai') - interval '7 days'`);
    const byDefault = createHousekeeping({ database: fresh.database, log: log.log });
    expect(await byDefault()).toEqual({ eventWeeksDropped: 1 });
    expect(await byDefault()).toEqual({});
    expect(await weeks()).toContain(young);
    expect(await weeks()).not.toContain(old);
  });
});
