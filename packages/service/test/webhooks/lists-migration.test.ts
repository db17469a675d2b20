import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { migrate } from '../../src/db/migrate.js';
import { freshDatabase } from '../support/database.js';
import { packageRoot } from '../support/processes.js';

it('what was there before is listed too: orders by user, and pushes with when their event was written', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-migrations-'));
  const fresh = await freshDatabase({ migrated: false });
  const { database } = fresh;
  try {
    const all = path.join(packageRoot, 'migrations');
    const names = await readdir(all);
    const migrateBefore = async (next: string) => {
      for (const name of names) if (name < next) await cp(path.join(all, name), path.join(folder, name));
      return migrate(database, pathToFileURL(`${folder}/`));
    };
    await migrateBefore('000011');
    await database.query(
      `insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
         period_type, period, total_cycles, amount_cent, created_at, cycle_no)
       select n, 20, 'order-' || n, 'user', 'P', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1, n, 100, '2026-01-31 12:00:00+08', 1
       from generate_series(1, 2) n`,
    );
    await database.query(
      `insert into external_orders (external_order_no, channel_id, order_no, user_key)
       select external_order_no, channel_id, order_no, key_of(channel_user_id) from orders`,
    );
    await database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at) values
         (20, 1, 'payment.status.changed', now(), '{}', now() - interval '1 h'),
         (20, 1, 'order.status.changed', now(), '{}', now() - interval '400 days')`,
    );
    await database.query(
      `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, answer)
       select 20, event_no, now() - n * interval '1 min', 0, case when n = 1 then 'ACCEPTED' else 'REFUSED' end::delivery_outcome,
         2 - n, 200, 7, 'yes' from events, generate_series(1, 2) n
       union all select 20, 999, '2020-01-01', 3, 'TIMEOUT', 0, null, 5000, null`,
    );
    const weeks = () =>
      database.query(
        `select c.relname, pg_get_expr(c.relpartbound, c.oid) from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = 'delivery_attempts'::regclass order by 1`,
      );
    const before = await weeks();
    expect(await migrateBefore('000012')).toMatchObject({ applied: 1 });
    expect(await weeks()).toEqual(before);
    expect(
      await database.query(
        'select order_no, single, e.created_at = o.created_at as same from external_orders e join orders o using (order_no) order by 1',
      ),
    ).toEqual([
      { order_no: 1, single: true, same: true },
      { order_no: 2, single: false, same: true },
    ]);
    expect(
      await database.query(
        `select a.event_no, a.outcome, a.retry_no, a.http_status, a.latency_ms, a.answer, a.is_payment,
           a.recorded_at = coalesce(e.recorded_at, a.at) as "isTheEvents"
         from delivery_attempts a left join events e using (event_no) order by a.event_no, a.retry_no`,
      ),
    ).toEqual([
      ...[1, 2].flatMap((event_no) =>
        ['REFUSED', 'ACCEPTED'].map((outcome, retry_no) => ({
          ...{ event_no, outcome, retry_no, http_status: 200, latency_ms: 7, answer: 'yes' },
          is_payment: event_no === 1,
          isTheEvents: true,
        })),
      ),
      {
        ...{ event_no: 999, outcome: 'TIMEOUT', retry_no: 0, http_status: null, latency_ms: 5000, answer: null },
        is_payment: false,
        isTheEvents: true,
      },
    ]);
  } finally {
    await fresh.close();
    await rm(folder, { recursive: true, force: true });
  }
});
