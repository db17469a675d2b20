import { describe, expect, it } from 'vitest';
import { listDifferences } from '../../src/operator/books/reconciliation.js';
import { insertOutsideRefund } from '../../src/reconciliation/differences-sql.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { alerts } from '../orders/support.js';
import { at, CODE, DAY, deskOfFile, inShort, line, NOON, putAttempt, putRefund, run } from './support.js';

const on = deskOfFile();

const open = async () => inShort(await listDifferences(on.operator));

describe('a day on which everything agrees', () => {
  it('has no differences and raises no alert', async () => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001 });
    const declined = await putAttempt(on.fresh.database, { orderNo: 1002, status: 'FAIL' });
    const pending = await putAttempt(on.fresh.database, { orderNo: 1003, status: 'STARTED' });
    const refund = await putRefund(on.fresh.database, { orderNo: 1001 });
    const done = await run(on, [
      line(debit),
      line(declined, { status: 'FAIL' }),
      line(pending, { status: 'PENDING' }),
      line(refund),
    ]);
    expect(done).toEqual({
      ...{ paymentChannelCode: CODE, day: DAY, source: 'FILE', lines: 4, differences: 0, open: 0 },
      ...{ runBy: 'test:ann', runAt: '2026-01-31 12:00:00' },
    });
    expect(await open()).toEqual([]);
    expect(await alerts(on.fresh.database)).toEqual([]);
  });

  it('counts each of thousands of lines', async () => {
    await on.fresh.database.query(
      `insert into debit_attempts (order_no, cycle_no, try_no, channel_id, agreement_id, payment_channel_code, amount_cent,
         status, started_at, paid_at)
       select 1000 + n, 1, 1, 1, 1, $1, n, 'SUCCESS', now(), '2026-01-30 12:00:00' from generate_series(1, 2500) n`,
      [CODE],
    );
    const lines = Array.from({ length: 2500 }, (_, n) => line(formatAttemptNo(1001 + n, 1, 1), { amountCent: n + 1 }));
    expect(await run(on, lines)).toMatchObject({ lines: 2500, differences: 0 });
    expect(await run(on, lines.with(2200, line('X')))).toMatchObject({ lines: 2500, differences: 2 });
    expect(await open()).toEqual([
      'MISSING_HERE X | - - | SUCCESS 1990',
      'MISSING_THERE 3201000101 | SUCCESS 2201 | - -',
    ]);
  });
});

it('a refund that was made outside stays listed until an operator closes it, and raises no alert', async () => {
  await insertOutsideRefund(on.fresh.database, CODE, 'R100100010101', 500, NOON);
  expect(await run(on, [])).toMatchObject({ differences: 0, open: 1 });
  expect(await open()).toEqual(['OUTSIDE R100100010101 | OUTSIDE 500 | - -']);
  expect(await alerts(on.fresh.database)).toEqual([]);
});

describe('MISSING_HERE', () => {
  it.each([
    ['an attempt that was never made', '1001000101'],
    ['a number that cannot be one of ours', 'XYZ-1'],
    ['a period that cannot be', '1001000001'],
    ['a refund that was never asked for', 'R1001000101'],
    ['a number too long for any', '9'.repeat(64)],
  ])('%s', async (_what, number) => {
    await run(on, [line(number, { amountCent: 700 })]);
    expect(await open()).toEqual([`MISSING_HERE ${number} | - - | SUCCESS 700`]);
  });

  it('the number of another payment channel', async () => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001, paymentChannelCode: 'OTHERPAY' });
    const refund = await putRefund(on.fresh.database, { orderNo: 1001, paymentChannelCode: 'OTHERPAY' });
    await run(on, [line(debit), line(refund)]);
    expect(await open()).toEqual([
      `MISSING_HERE ${debit} | - - | SUCCESS 1990`,
      `MISSING_HERE ${refund} | - - | SUCCESS 500`,
    ]);
  });

  it("a refund's number on a line of a debit", async () => {
    const refund = await putRefund(on.fresh.database, { orderNo: 1001 });
    await run(on, [line(refund, { kind: 'debit' })]);
    expect(await open()).toEqual([
      `MISSING_HERE ${refund} | - - | SUCCESS 500`,
      `MISSING_THERE ${refund} | SUCCESS 500 | - -`,
    ]);
  });
});

describe('MISSING_THERE', () => {
  it('successes of the day, from its first moment to its last', async () => {
    const { database } = on.fresh;
    const first = await putAttempt(database, { orderNo: 1001, paidAt: at('2026-01-30 00:00:00') });
    const last = await putAttempt(database, { orderNo: 1002, paidAt: at('2026-01-30T23:59:59.999+08:00') });
    const refund = await putRefund(database, { orderNo: 1001, refundSeq: 12, paidAt: at('2026-01-30 23:59:59') });
    await putAttempt(database, { orderNo: 1003, paidAt: at('2026-01-29T23:59:59.999+08:00') });
    await putAttempt(database, { orderNo: 1004, paidAt: at('2026-01-31 00:00:00') });
    await putRefund(database, { orderNo: 1004, paidAt: at('2026-01-31 00:00:00') });
    await putAttempt(database, { orderNo: 1005, status: 'FAIL' });
    await putAttempt(database, { orderNo: 1006, status: 'STARTED' });
    await putAttempt(database, { orderNo: 1007, paymentChannelCode: 'OTHERPAY' });
    await run(on, []);
    expect(await open()).toEqual([
      `MISSING_THERE ${first} | SUCCESS 1990 | - -`,
      `MISSING_THERE ${last} | SUCCESS 1990 | - -`,
      `MISSING_THERE ${refund} | SUCCESS 500 | - -`,
    ]);
  });

  it('not if the institution booked it on another day than it reported', async () => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001, paidAt: at('2026-01-29 23:59:59') });
    await run(on, [line(debit)]);
    expect(await open()).toEqual([]);
  });
});

describe('AMOUNT and DUPLICATE', () => {
  const twice = (debit: string, refund: string) => [line(debit), line(refund), line(debit), line(refund)];
  const byACent = (debit: string, refund: string) => [
    line(debit, { amountCent: 1991 }),
    line(refund, { amountCent: 499 }),
  ];

  it.each([
    ['AMOUNT', 'by a cent', byACent, 1991, 499],
    ['DUPLICATE', 'more than once, with the sum of its successes', twice, 3980, 1000],
  ] as const)('%s: a debit and a refund, %s', async (kind, _what, linesOf, debited, refunded) => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001 });
    const refund = await putRefund(on.fresh.database, { orderNo: 1001 });
    await run(on, linesOf(debit, refund));
    expect(await open()).toEqual([
      `${kind} ${debit} | SUCCESS 1990 | SUCCESS ${debited}`,
      `${kind} ${refund} | SUCCESS 500 | SUCCESS ${refunded}`,
    ]);
  });
});

describe('STATE', () => {
  const contradicts = [
    ['SUCCESS', 'FAIL', true],
    ['SUCCESS', 'STARTED', true],
    ['SUCCESS', 'SUCCESS', false],
    ['FAIL', 'SUCCESS', true],
    ['FAIL', 'STARTED', false],
    ['FAIL', 'FAIL', false],
    ['PENDING', 'SUCCESS', true],
    ['PENDING', 'FAIL', true],
    ['PENDING', 'STARTED', false],
  ] as const;

  it.each(contradicts)('%s there, %s here: %s', async (theirs, ours, isDifference) => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001, status: ours });
    const refund = await putRefund(on.fresh.database, { orderNo: 1001, status: ours });
    await run(on, [line(debit, { status: theirs }), line(refund, { status: theirs })]);
    const found = [`STATE ${debit} | ${ours} 1990 | ${theirs} 1990`, `STATE ${refund} | ${ours} 500 | ${theirs} 500`];
    expect(await open()).toEqual(isDifference ? found : []);
  });

  it.each([
    ['SUCCESS', true],
    ['FAIL', true],
    ['PENDING', false],
  ] as const)('open here, %s there: asked about at once: %s', async (theirs, asked) => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001, status: 'STARTED' });
    const refund = await putRefund(on.fresh.database, { orderNo: 1001, status: 'STARTED' });
    await putAttempt(on.fresh.database, { orderNo: 1002, status: 'STARTED' });
    await run(on, [line(debit, { status: theirs }), line(refund, { status: theirs })]);
    const due = await on.fresh.database.query(
      `select order_no from debit_attempts where ask_at <= now() union all
       select order_no from refunds where ask_at <= now()`,
    );
    expect(due).toEqual(asked ? [{ order_no: 1001 }, { order_no: 1001 }] : []);
  });

  it('an attempt that is being settled does not block the run', async () => {
    const debit = await putAttempt(on.fresh.database, { orderNo: 1001, status: 'STARTED' });
    await on.fresh.database.transaction(async (tx) => {
      await tx.query('select from debit_attempts for update');
      expect(await run(on, [line(debit)])).toMatchObject({ open: 1 });
    });
  });
});

describe('DUPLICATE', () => {
  it('two successful attempts of one period: the one unknown here', async () => {
    const first = await putAttempt(on.fresh.database, { orderNo: 1001, tryNo: 1, status: 'FAIL' });
    const second = await putAttempt(on.fresh.database, { orderNo: 1001, tryNo: 2 });
    const nextPeriod = await putAttempt(on.fresh.database, { orderNo: 1001, cycleNo: 2 });
    await run(on, [line(first), line(second), line(nextPeriod)]);
    expect(await open()).toEqual([
      `DUPLICATE ${first} | FAIL 1990 | SUCCESS 1990`,
      `STATE ${first} | FAIL 1990 | SUCCESS 1990`,
    ]);
  });

  it('a success there of a period that another attempt has paid on another day or elsewhere', async () => {
    const first = await putAttempt(on.fresh.database, { orderNo: 1001, tryNo: 1, status: 'FAIL' });
    const paidAt = at('2026-01-31 02:00:00');
    await putAttempt(on.fresh.database, { orderNo: 1001, tryNo: 2, paymentChannelCode: 'OTHERPAY', paidAt });
    await run(on, [line(first)]);
    expect(await open()).toContain(`DUPLICATE ${first} | FAIL 1990 | SUCCESS 1990`);
  });
});
