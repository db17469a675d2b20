import { beforeAll, expect, it } from 'vitest';
import type { StatementLine } from '../../src/gateways/gateway.js';
import { acknowledgeAlert, listAlerts } from '../../src/operator/alerts.js';
import { closeDifference, listDifferences, runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { stageOfFile } from '../orders/stage-of-file.js';
import { attemptNoOf, created, declined, engineOfFile, success } from '../renewals/support.js';
import { at, bytes, csvOf, inShort, line } from './support.js';

/** Tests the procedure of docs/alerts.md for a debit that succeeded after FAIL. */

const { on } = stageOfFile();
const node = engineOfFile(on);
let operator: OperatorWithGateways;
beforeAll(() => {
  operator = { ...on.service.operator, clock: on.service.clock, gateways: { of: async () => on.institution } };
});

const statement = (day: string, lines: readonly StatementLine[]) =>
  runReconciliation(operator, { paymentChannelCode: 'MOCKPAY', day, csv: bytes(csvOf(lines)) });
const open = async () => inShort(await listDifferences(operator));

it.each([
  ['FAIL', 'final', '2026-01-10'],
  ['CANCELED', 'retryable', '2026-01-20'],
] as const)('the period is %s: returned by the institution, and closed with notes', async (status, decline, day) => {
  const orderNo = await created(on);
  on.institution.onDebit = async () => declined(decline);
  expect(await node.renewOnce()).toBe(1);
  on.institution.reset();
  if (status === 'CANCELED') {
    await on.channel.call('orders/unsubscribe', { orderNo }, { idempotencyKey: `end-${orderNo}` });
  }
  const attemptNo = attemptNoOf(orderNo, 2, 1);
  await on.notice({ kind: 'debit', attemptNo, outcome: success(attemptNo, at(`${day} 12:00:00`)) });
  const { data } = await on.channel.call('orders/query', { orderNo });
  expect(data.paymentRecords[1].paymentStatus).toBe(status);
  expect(await listAlerts(operator)).toMatchObject([{ kind: 'debit-contradiction', subject: attemptNo }]);
  await expect(refundPayment(operator, { orderNo, cycleNo: 2 })).rejects.toThrow(
    `period 2 of order ${orderNo} is ${status}: only a paid period can be refunded`,
  );

  const returned = day.replace(/.$/, '5');
  const refund = `BANK-${orderNo}`;
  const both = async () => {
    await statement(day, [line(attemptNo, { bookedAt: at(`${day} 12:00:00`) })]);
    const booked = { kind: 'refund', amountCent: 1990, bookedAt: at(`${returned} 12:00:00`) } as const;
    await statement(returned, [line(refund, booked)]);
  };
  await both();
  expect(await open()).toEqual([
    `MISSING_HERE ${refund} | - - | SUCCESS 1990`,
    `STATE ${attemptNo} | FAIL 1990 | SUCCESS 1990`,
  ]);
  for (const { differenceNo } of await listDifferences(operator)) {
    await closeDifference(operator, { differenceNo, note: 'returned by the bank, ticket 4711' });
  }
  for (const { kind, subject } of await listAlerts(operator)) await acknowledgeAlert(operator, { kind, subject });
  await both();
  expect(await open()).toEqual([]);
  expect(await listAlerts(operator)).toEqual([]);
  await node.deps.database.query('update orders set next_due_at = null');
});
