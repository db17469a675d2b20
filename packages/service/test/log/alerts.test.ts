import { afterAll, beforeAll, expect, it } from 'vitest';
import { raiseAlert, raiseAlertOnce } from '../../src/alerts/alerts-sql.js';
import { logAlerts } from '../../src/engine/jobs/alerts.js';
import { capturedLog } from '../support/captured-log.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.close());

it('an alert that was raised is one line, in the log of one node, and another when it is raised again', async () => {
  const { database } = fresh;
  const { log, lines } = capturedLog();
  const turn = () => Promise.all([logAlerts({ database, log }), logAlerts({ database, log })]);
  await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
  await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
  await raiseAlert(database, 'webhook-given-up', 'test_partner', '3 given up at once');
  await raiseAlertOnce(database, 'debit-unknown-for-a-day', '100000001000000101', 'still unknown');
  await turn();
  expect(lines().toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
    { level: 'warn', msg: 'alert', kind: 'debit-unknown-for-a-day', subject: '100000001000000101', times: 1 },
    { level: 'warn', msg: 'alert', kind: 'pool-empty', subject: 'COUPON', times: 2, seen: 2 },
    { kind: 'webhook-given-up', subject: 'test_partner', detail: '3 given up at once' },
  ]);
  await raiseAlertOnce(database, 'debit-unknown-for-a-day', '100000001000000101', 'still unknown');
  await turn();
  expect(lines()).toHaveLength(3);
  await raiseAlert(database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
  await turn();
  expect(lines().slice(3)).toMatchObject([{ kind: 'pool-empty', times: 1, seen: 3 }]);
});

it('one whose transaction came to nothing is none', async () => {
  const { database } = fresh;
  const { log, lines } = capturedLog();
  const broken = database.transaction(async (tx) => {
    await raiseAlert(tx, 'refund-refused', 'R1', 'no');
    throw new Error('and then it failed');
  });
  await expect(broken).rejects.toThrow('and then it failed');
  await logAlerts({ database, log });
  expect(lines()).toEqual([]);
});
