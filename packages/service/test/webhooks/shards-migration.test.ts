import { expect, it } from 'vitest';
import { stepwiseMigration } from '../support/stepwise-migration.js';

it('events that were written before anybody sent them are queued, each once', async () => {
  const { database, migrateBefore, close } = await stepwiseMigration();
  try {
    await migrateBefore('000004');
    await database.query(
      `insert into events (channel_id, order_no, event_type, cycle_no, cycle_to, occurred_at, data) values
         (20, 1, 'payment.status.changed', 1, null, now(), '{}'), (20, 1, 'order.status.changed', null, null, now(), '{}'),
         (20, 1, 'payment.status.changed', 2, 7, now(), '{}'), (21, 2, 'order.status.changed', null, null, now(), '{}')`,
    );
    expect(await migrateBefore('000005')).toMatchObject({ applied: ['000004_webhooks.sql'] });
    expect(
      await database.query(
        'select shard, cycle_no, cycle_to, is_payment, retry_no from due_events order by next_at, event_no',
      ),
    ).toEqual([
      { shard: 4, cycle_no: 0, cycle_to: null, is_payment: true, retry_no: 0 },
      { shard: 4, cycle_no: 0, cycle_to: null, is_payment: false, retry_no: 0 },
      { shard: 4, cycle_no: 2, cycle_to: 7, is_payment: true, retry_no: 0 },
      { shard: 5, cycle_no: 0, cycle_to: null, is_payment: false, retry_no: 0 },
    ]);
  } finally {
    await close();
  }
});
