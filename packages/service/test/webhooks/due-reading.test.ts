import { expect, it } from 'vitest';
import { readShards, START } from '../../src/delivery/queue/due-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

const fresh = ofFile(freshDatabase);

const insert = (from: number, to: number) =>
  fresh.database.query(
    `insert into due_events (shard, next_at, event_no, cycle_no, channel_id, order_no, is_payment, recorded_at, step, retry_no)
     select n % 16, at, n, 0, 17, n, true, at, 0, 0
     from generate_series($1::integer, $2::integer) n, lateral (select now() - interval '1 h' + n * interval '1 ms' as at) t`,
    [from, to],
  );

it('a page of a long backlog is read without the rest, even with statistics from when it was short', async () => {
  await insert(1, 30_000);
  await fresh.database.query('analyze due_events');
  await insert(30_001, 60_000);
  await fresh.database.transaction(async (tx) => {
    const read = async () => {
      const rows = await tx.query<{ rows: number }>(
        `select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'due_events'`,
      );
      return rows[0]?.rows ?? 0;
    };
    const part = { shard: 1, after: START, until: null, since: null };
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await tx.query(`set local plan_cache_mode = ${mode}`);
      const before = await read();
      expect(await readShards(tx, [part], [], 1_000)).toHaveLength(1_000);
      expect((await read()) - before, mode).toBeLessThanOrEqual(1_100);
    }
  });
});

it('each weekly partition of events and pushes has every index of its table, later ones too', async () => {
  await fresh.database.query(`select make_weeks('events', 6), make_weeks('delivery_attempts', 6)`);
  const tables = await fresh.database.query(
    `select p.inhparent::regclass::text as "table", count(distinct p.inhrelid) > 5 as "hasWeeks",
       count(*) = count(distinct p.inhrelid) * (select count(*) from pg_index i where i.indrelid = p.inhparent) as "isWhole"
     from pg_inherits p join pg_index x on x.indrelid = p.inhrelid
     where p.inhparent in ('events'::regclass, 'delivery_attempts'::regclass) group by p.inhparent order by 1`,
  );
  expect(tables).toEqual(['delivery_attempts', 'events'].map((table) => ({ table, hasWeeks: true, isWhole: true })));
  expect(await fresh.database.query('select indexrelid::regclass::text from pg_index where not indisvalid')).toEqual(
    [],
  );
});
