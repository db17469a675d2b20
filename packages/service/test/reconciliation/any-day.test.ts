import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StatementLine } from '../../src/gateways/gateway.js';
import { listDifferences } from '../../src/operator/books/reconciliation.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { ofFile } from '../orders/stage-of-file.js';
import { type AttemptRow, at, desk, inShort, line, NOON, putAttempt, run } from './support.js';

/**
 * Reconciles random attempts with random statements, and checks each line against the rules of docs/reconciliation.md.
 */
const on = ofFile(desk);

const PERIODS = [
  [1001, 1],
  [1001, 2],
  [1002, 1],
] as const;
const reference = fc
  .tuple(fc.constantFrom(...PERIODS), fc.integer({ min: 1, max: 3 }))
  .map(([[orderNo, cycleNo], tryNo]) => ({ orderNo, cycleNo, tryNo }));
const amountCent = fc.constantFrom(1990, 1991);

const attempt = fc
  .tuple(
    reference,
    fc.record({
      amountCent,
      status: fc.constantFrom<'STARTED' | 'SUCCESS' | 'FAIL'>('STARTED', 'SUCCESS', 'FAIL'),
      paymentChannelCode: fc.constantFrom('UNIPAY', 'UNIPAY', 'UNIPAY', 'OTHERPAY'),
      paidAt: fc.constantFrom(NOON, NOON, at('2026-01-29 23:59:59')),
    }),
  )
  .map(([where, what]) => ({ ...where, ...what }));
const statementLine = fc
  .tuple(
    reference.map(({ orderNo, cycleNo, tryNo }) => formatAttemptNo(orderNo, cycleNo, tryNo)),
    fc.record({
      amountCent,
      status: fc.constantFrom<StatementLine['status']>('SUCCESS', 'SUCCESS', 'FAIL', 'PENDING'),
    }),
  )
  .map(([number, more]) => line(number, more));

/**
 * Random attempts with at most one success per period, because the service settles only one attempt of a period as a
 * success.
 */
const attempts = fc
  .uniqueArray(attempt, { selector: (one) => numberOf(one), maxLength: 7 })
  .map((rows) =>
    rows.filter(
      (row, index) =>
        row.status !== 'SUCCESS' ||
        !rows.slice(0, index).some((one) => samePeriod(one, row) && one.status === 'SUCCESS'),
    ),
  );

type Row = Required<AttemptRow>;
const numberOf = ({ orderNo, cycleNo, tryNo }: Pick<Row, 'orderNo' | 'cycleNo' | 'tryNo'>) =>
  formatAttemptNo(orderNo, cycleNo, tryNo);
const samePeriod = (one: Pick<Row, 'orderNo' | 'cycleNo'>, other: Pick<Row, 'orderNo' | 'cycleNo'>) =>
  one.orderNo === other.orderNo && one.cycleNo === other.cycleNo;

function expected(rows: readonly Row[], lines: readonly StatementLine[]): string[] {
  const differences: string[] = [];
  const add = (kind: string, number: string, here?: Row, there?: { status: string; amountCent: number }) =>
    differences.push(
      `${kind} ${number} | ${here?.status ?? '-'} ${here?.amountCent ?? '-'} | ${there?.status ?? '-'} ${there?.amountCent ?? '-'}`,
    );
  const ours = rows.filter((row) => row.paymentChannelCode === 'UNIPAY');
  const successful = [...new Set(lines.filter((one) => one.status === 'SUCCESS').map((one) => one.number))];
  for (const number of new Set(lines.map((one) => one.number))) {
    const same = lines.filter((one) => one.number === number);
    const byWeight = (one: StatementLine) => ['SUCCESS', 'PENDING', 'FAIL'].indexOf(one.status) * 1e6 + one.amountCent;
    const [there = line(number)] = same.toSorted((one, other) => byWeight(one) - byWeight(other));
    const here = ours.find((row) => numberOf(row) === number);
    if (!here) add('MISSING_HERE', number, undefined, there);
    if (here && here.amountCent !== there.amountCent) add('AMOUNT', number, here, there);
    if (here && there.status === 'SUCCESS' && here.status !== 'SUCCESS') add('STATE', number, here, there);
    if (here && there.status === 'FAIL' && here.status === 'SUCCESS') add('STATE', number, here, there);
    if (here && there.status === 'PENDING' && here.status !== 'STARTED') add('STATE', number, here, there);

    const period = number.slice(0, -2);
    const tries = successful.filter((one) => one.slice(0, -2) === period).toSorted();
    const known = ours.find((row) => row.status === 'SUCCESS' && tries.includes(numberOf(row)));
    const rightful = known ? numberOf(known) : tries[0];
    const paidByAnother = rows.some(
      (row) => row.status === 'SUCCESS' && numberOf(row).slice(0, -2) === period && numberOf(row) !== number,
    );
    const twice = tries.includes(number) && (number !== rightful || (here?.status !== 'SUCCESS' && paidByAnother));
    if (same.length > 1 || twice) {
      const booked = same.filter((one) => one.status === 'SUCCESS').reduce((sum, one) => sum + one.amountCent, 0);
      add('DUPLICATE', number, here, { ...there, amountCent: booked || there.amountCent });
    }
  }
  for (const row of ours) {
    const isThere = lines.some((one) => one.number === numberOf(row));
    if (row.status === 'SUCCESS' && row.paidAt === NOON && !isThere) add('MISSING_THERE', numberOf(row), row);
  }
  return differences.sort();
}

it('any day: exactly the documented differences, and again after the facts have changed', async () => {
  await fc.assert(
    fc.asyncProperty(attempts, fc.array(statementLine, { maxLength: 8 }), async (rows, lines) => {
      // Keeps the differences of the earlier runs, to check that they do not stay open and do not affect this run.
      await on.fresh.database.query('truncate debit_attempts');
      for (const row of rows) await putAttempt(on.fresh.database, row);
      const done = await run(on, lines);
      const open = inShort(await listDifferences(on.operator));
      expect(open).toEqual(expected(rows, lines));
      expect(done).toMatchObject({ lines: lines.length, differences: open.length, open: open.length });
    }),
    { numRuns: 150 },
  );
});
