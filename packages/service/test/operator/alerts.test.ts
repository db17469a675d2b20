import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { listAudit } from '../../src/operator/audit.js';
import type { Operator } from '../../src/operator/operator.js';
import { raiseAlert } from '../../src/platform/alerts/alerts-sql.js';
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
