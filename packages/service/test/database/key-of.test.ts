import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { stepwiseMigration } from '../support/stepwise-migration.js';

describe('key_of', () => {
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  afterAll(() => fresh.close());

  it.each([
    '',
    'order-1',
    '\\',
    '\\\\',
    '\\x41',
    '\\101',
    'a\\',
    'quote \' and "',
    '订单 №1 🙂',
    '\\订',
    '\n\t\u0001',
    'x'.repeat(1024),
  ])('is the SHA-256 of the bytes of %j, whatever a session makes of backslashes', async (text) => {
    const sha256 = createHash('sha256').update(text).digest();
    for (const setting of ['on', 'off']) {
      const [row] = await fresh.database.transaction(async (tx) => {
        await tx.query(`set local standard_conforming_strings = ${setting}`);
        return tx.query<{ key: Buffer }>('select key_of($1::text) as key', [text]);
      });
      expect(row?.key).toEqual(sha256);
    }
  });

  it('is found by its indexes also from a session that was open before it was in this form', async () => {
    const { url, migrateBefore, close } = await stepwiseMigration();
    onTestFinished(close);
    await migrateBefore('000022');
    const session = openDatabase({ url, pool: 1, name: 'open before' });
    onTestFinished(() => session.close());
    const conditions = [
      [`from external_orders where key_of(external_order_no) = key_of('a')`, 'external_orders_number'],
      [`from channel_users where key_of(channel_user_id) = key_of('a') and channel_id = 1`, 'channel_users_by_user'],
      [`from agreements where key_of(channel_user_id) = key_of('a') and channel_id = 1`, 'agreements_of_user'],
    ] as const;
    const indexes = () =>
      session.transaction(async (tx) => {
        await tx.query('set local enable_seqscan = off');
        const plans = [];
        for (const [condition] of conditions) {
          const lines = await tx.query<{ 'QUERY PLAN': string }>(`explain select ${condition}`);
          const text = lines.map((line) => line['QUERY PLAN']).join(' ');
          plans.push(/using (\w+)|Bitmap Index Scan on (\w+)/.exec(text)?.slice(1).join(''));
        }
        return plans;
      });
    const wanted = conditions.map(([, index]) => index);
    expect(await indexes()).toEqual(wanted);
    await migrateBefore('000023');
    expect(await indexes()).toEqual(wanted);
  });

  it('is part of the statement that asks for it, and no call', async () => {
    const plan = await fresh.database.query<{ 'QUERY PLAN': string }>(
      `explain (verbose) select from external_orders e, unnest(array['a', 'b']) asked
       where key_of(e.external_order_no) = key_of(asked)`,
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('sha256');
    expect(text).not.toContain('key_of');
  });
});
