import { expect, it } from 'vitest';
import type { Database } from '../../src/platform/db/database.js';
import { stepwiseMigration } from '../support/stepwise-migration.js';

/** As the release before this migration does it: the order and its number in one statement, the number first. */
const storeOrder = (database: Database, orderNo: number, totalCycles: number) =>
  database.query(
    `with number as (
       insert into external_orders (external_order_no, channel_id, order_no, user_key)
       values ('order-' || $1::bigint, 20, $1, key_of('user')))
     insert into orders (order_no, channel_id, external_order_no, channel_user_id, product_code, settlement_mode, status,
       period_type, period, total_cycles, amount_cent, created_at, cycle_no)
     values ($1, 20, 'order-' || $1::bigint, 'user', 'P', 'CHANNEL_COLLECT', 'ACTIVE', 'MONTH', 1, $2, 100,
       '2026-01-31 12:00:00+08', 1)`,
    [orderNo, totalCycles],
  );

/** Two pushes of each event, and one of an event that is gone. */
const storePushes = (database: Database) =>
  database.query(
    `insert into delivery_attempts (channel_id, event_no, at, cycle_no, outcome, retry_no, http_status, latency_ms, answer)
     select 20, event_no, now() - n * interval '1 min', 0, case when n = 1 then 'ACCEPTED' else 'REFUSED' end::delivery_outcome,
       2 - n, 200, 7, 'yes' from events, generate_series(1, 2) n
     union all select 20, 999, '2020-01-01', 3, 'TIMEOUT', 0, null, 5000, null`,
  );

it('what was there is listed too, and what nodes of the release before go on storing', async () => {
  const { database, migrateBefore, close } = await stepwiseMigration();
  try {
    await migrateBefore('000011');
    await storeOrder(database, 1, 1);
    await database.query(
      `insert into events (channel_id, order_no, event_type, occurred_at, data, recorded_at) values
         (20, 1, 'payment.status.changed', now(), '{}', now() - interval '1 h'),
         (20, 1, 'order.status.changed', now(), '{}', now() - interval '400 days')`,
    );
    await storePushes(database);
    expect(await migrateBefore('000012')).toMatchObject({ applied: ['000011_lists.sql'] });
    await storeOrder(database, 2, 12);
    await storePushes(database);
    for (const contract of [false, true]) {
      await migrateBefore('000018', { contract });
      expect(
        await database.query(
          'select order_no, single, e.created_at = o.created_at as same from external_orders e join orders o using (order_no) order by 1',
        ),
      ).toEqual([
        { order_no: 1, single: true, same: true },
        { order_no: 2, single: false, same: true },
      ]);
      const pushes = await database.query(
        `select a.event_no, a.outcome, a.retry_no, a.http_status, a.latency_ms, a.answer, a.is_payment,
           a.recorded_at = coalesce(e.recorded_at, a.at) as "isTheEvents"
         from delivery_attempts a left join events e using (event_no) order by a.event_no, a.retry_no, a.at`,
      );
      expect(pushes).toEqual([
        ...[1, 2].flatMap((event_no) =>
          ['REFUSED', 'REFUSED', 'ACCEPTED', 'ACCEPTED'].map((outcome, n) => ({
            ...{ event_no, outcome, retry_no: n < 2 ? 0 : 1, http_status: 200, latency_ms: 7, answer: 'yes' },
            is_payment: event_no === 1,
            isTheEvents: true,
          })),
        ),
        ...Array.from({ length: 2 }, () => ({
          ...{ event_no: 999, outcome: 'TIMEOUT', retry_no: 0, http_status: null, latency_ms: 5000, answer: null },
          is_payment: false,
          isTheEvents: true,
        })),
      ]);
    }
    // From now on nobody may leave them out.
    await expect(storeOrder(database, 3, 1)).rejects.toThrow(/external_orders_complete/);
    await expect(storePushes(database)).rejects.toThrow(/delivery_attempts_complete/);
  } finally {
    await close();
  }
});

it('lists of the console have what was there, and what nodes of the release before go on storing', async () => {
  const { database, migrateBefore, close } = await stepwiseMigration();
  const storeFailed = async (orderNo: number) => {
    await storeOrder(database, orderNo, 12);
    await database.query(
      `with period as (
         insert into payments (order_no, cycle_no, channel_id, status, expect_at, amount_cent, attempts)
         values ($1, 1, 20, 'PROCESSING', now(), 100, 2))
       insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent, started_at)
       select $1, 1, n, 20, 1, 'BANK', 100, now() from generate_series(1, 2) n`,
      [orderNo],
    );
    // The period first: what counts is what stands there at the commit.
    await database.transaction(async (tx) => {
      await tx.query(`update payments set status = 'FAIL' where order_no = $1`, [orderNo]);
      await tx.query(
        `update debit_attempts set status = 'FAIL', reason = 'try ' || try_no, settled_at = '2026-02-01 12:00+08' where order_no = $1`,
        [orderNo],
      );
    });
  };
  try {
    await migrateBefore('000011');
    await migrateBefore('000018');
    await storeFailed(1);
    expect((await migrateBefore('000019')).applied).toEqual(['000018_console.sql']);
    await storeFailed(2);
    await migrateBefore('000019', { contract: true });
    expect(
      await database.query('select order_no, product_code, status, tries, reason from failed_payments order by 1'),
    ).toEqual([1, 2].map((order_no) => ({ order_no, product_code: 'P', status: 'FAIL', tries: 2, reason: 'try 2' })));
    expect(await database.query('select order_no, product_code from external_orders order by 1')).toEqual(
      [1, 2].map((order_no) => ({ order_no, product_code: 'P' })),
    );
    await database.query(`update payments set status = 'SUCCESS' where order_no = 1`);
    expect(await database.query('select order_no from failed_payments')).toEqual([{ order_no: 2 }]);
    const replaced = ['external_orders_listed', 'channel_users_user', 'agreements_user', 'orders_due_collect'];
    expect(await database.query('select relname from pg_class where relname = any($1)', [replaced])).toEqual([]);
  } finally {
    await close();
  }
});
