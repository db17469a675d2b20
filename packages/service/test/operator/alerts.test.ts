import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAlertsAbout, raiseAlert } from '../../src/alerts/alerts-sql.js';
import { costOf } from '../support/cost.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.close());

it('those about an order, its parts and its agreement are looked up, however many there are of others', async () => {
  const about = [
    '100000001000',
    '1000000010000001',
    '100000001000000101',
    'R100000001000000101',
    'C100000001000000101',
  ];
  const others = ['1000000010001', '100000001000001', 'R1000000010', 'X100000001000000101', '100000001000 ', 'AGR-10'];
  for (const subject of [...about, ...others, 'AGR-1'])
    await raiseAlert(fresh.database, 'refund-refused', subject, 'x');
  await fresh.database.query(
    `insert into alerts (kind, subject, detail, first_seen_at, last_seen_at)
     select 'refund-refused', 'R' || (200000000000 + n) || '000101', 'x', now(), now() from generate_series(1, 5000) n`,
  );
  await fresh.database.query('analyze alerts');
  const find = (agreementNo: string | null) =>
    costOf(fresh.database, (db) => findAlertsAbout(db, { orderNo: 100000001000, agreementNo }));
  const { result, rows, pages } = await find('AGR-1');
  expect(result.map(({ subject }) => subject).toSorted()).toEqual([...about, 'AGR-1'].toSorted());
  expect(rows).toBeLessThan(20);
  expect(pages).toBeLessThan(40);
  expect((await find(null)).result).toHaveLength(about.length);
});
