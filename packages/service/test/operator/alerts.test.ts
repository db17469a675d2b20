import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { findAlertsAbout, raiseAlert } from '../../src/alerts/alerts-sql.js';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { listAudit } from '../../src/operator/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import { costOf } from '../support/cost.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { operatorOn } from './support.js';

let fresh: FreshDatabase;
let operator: Operator;
beforeAll(async () => {
  fresh = await freshDatabase();
  operator = operatorOn(fresh.database);
});
afterAll(() => fresh.close());
beforeEach(() => fresh.database.query('truncate alerts'));

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const subjects = async (all = false) => (await listAlerts(operator, { all })).map(({ subject }) => subject);

it('lists open ones, the latest first, each once with how often it was seen', async () => {
  for (const subject of ['1', '2', '1'])
    await raiseAlert(fresh.database, 'refund-refused', subject, `about ${subject}`);
  expect(await listAlerts(operator)).toEqual([
    {
      kind: 'refund-refused',
      subject: '1',
      detail: 'about 1',
      seen: 2,
      firstSeenAt: TIME,
      lastSeenAt: TIME,
      owner: null,
      acknowledgedBy: null,
      acknowledgedAt: null,
      resolvedAt: null,
      resolvedBecause: null,
    },
    expect.objectContaining({ subject: '2', seen: 1 }),
  ]);
});

it('an acknowledged one is put aside, until it happens again', async () => {
  await raiseAlert(fresh.database, 'refund-refused', '1', 'x');
  const alert = { kind: 'refund-refused', subject: '1' };
  expect(await acknowledgeAlert(operator, alert)).toMatchObject({
    ...alert,
    acknowledgedBy: 'test:ann',
    acknowledgedAt: TIME,
    changed: true,
  });
  expect(await subjects()).toEqual([]);
  expect(await subjects(true)).toEqual(['1']);
  expect(await acknowledgeAlert({ ...operator, actor: 'test:bob' }, alert)).toMatchObject({
    acknowledgedBy: 'test:ann',
    changed: false,
  });
  expect(await listAudit(operator, { subject: '1' })).toMatchObject([
    { actor: 'test:ann', action: 'alert.acknowledge', detail: { kind: 'refund-refused' } },
  ]);
  await raiseAlert(fresh.database, 'refund-refused', '1', 'again');
  expect(await subjects()).toEqual(['1']);
});

it('one that is not there cannot be acknowledged', async () => {
  await raiseAlert(fresh.database, 'refund-refused', '1', 'x');
  await expect(acknowledgeAlert(operator, { kind: 'refund-refused', subject: '2' })).rejects.toThrow(
    'there is no alert "refund-refused" about "2"',
  );
  await expect(acknowledgeAlert(operator, { kind: 'nonsense', subject: '1' })).rejects.toThrow(/there is no alert/);
});

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
