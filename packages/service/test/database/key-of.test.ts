import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { freshDatabase } from '../support/database.js';

describe('key_of', () => {
  const fresh = ofFile(freshDatabase);

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
  ])('is the SHA-256 of the bytes of %j, however the session treats backslashes', async (text) => {
    const sha256 = createHash('sha256').update(text).digest();
    for (const setting of ['on', 'off']) {
      const [row] = await fresh.database.transaction(async (tx) => {
        await tx.query(`set local standard_conforming_strings = ${setting}`);
        return tx.query<{ key: Buffer }>('select key_of($1::text) as key', [text]);
      });
      expect(row?.key).toEqual(sha256);
    }
  });

  it('is inlined into the statement', async () => {
    const plan = await fresh.database.query<{ 'QUERY PLAN': string }>(
      `explain (verbose) select from external_orders e, unnest(array['a', 'b']) asked
       where key_of(e.external_order_no) = key_of(asked)`,
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('sha256');
    expect(text).not.toContain('key_of');
  });
});
