import { describe, expect, it } from 'vitest';
import { book, useBook } from './diary.js';

useBook();

/**
 * Uses the real clock of the database, as in production. By that clock the orders of January 2026 are months old, and
 * all their periods are due.
 */
describe('the engine was away for three months', () => {
  it('mode A: it catches up one period after another, each on its own', async () => {
    const diary = await book.open('2026-01-31 10:00', await book.product({ totalCycles: 4 }), 'MOCKPAY');
    let open = 0;
    let most = 0;
    book.institution.onDebit = async (request) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return { kind: 'success', paidAt: request.startedAt, amountCent: request.amountCent, institutionRef: 'r' };
    };
    await diary.on('2026-05-02 09:00', async () => {
      while ((await book.renew()) > 0);
    });
    expect(diary.entries).toEqual([
      ['2026-01-31 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2026-02-28 10:00'],
      ['2026-05-02 09:00', 'period 2 SUCCESS, period 3 SUCCESS, period 4 SUCCESS, order COMPLETED', 'COMPLETED'],
    ]);
    expect(most).toBe(1);
    expect((await diary.periods()).map((line) => line.replace(/, paid.*/, ''))).toEqual([
      '1 due 2026-01-31 10:00: SUCCESS',
      '2 due 2026-02-28 10:00: SUCCESS',
      '3 due 2026-03-31 10:00: SUCCESS',
      '4 due 2026-04-30 10:00: SUCCESS',
    ]);
  });

  it('mode A: a debit without a result delays later ones, and a retry comes too late', async () => {
    const diary = await book.open('2026-01-31 10:00', await book.product({ totalCycles: 4 }), 'MOCKPAY');
    book.institution.onDebit = async () => ({ kind: 'pending' });
    await diary.on('2026-05-02 09:00', () => book.renew());
    await diary.on('2026-05-02 09:01', () => book.renew());
    book.institution.onDebit = async (request) =>
      request.cycleNo === 3
        ? { kind: 'declined', decline: 'retryable', reason: 'short' }
        : { kind: 'success', paidAt: request.startedAt, amountCent: request.amountCent, institutionRef: 'r' };
    book.institution.onQuery = async () => ({ kind: 'not-found' });
    await diary.on('2026-05-02 09:02', () => book.askPending());
    await diary.on('2026-05-02 09:03', async () => {
      while ((await book.renew()) > 0);
    });
    expect(diary.entries.slice(1)).toEqual([
      ['2026-05-02 09:00', 'nothing', 'ACTIVE, next 2026-03-31 10:00'],
      ['2026-05-02 09:01', 'nothing', 'ACTIVE, next 2026-03-31 10:00'],
      ['2026-05-02 09:02', 'period 2 SUCCESS', 'ACTIVE, next 2026-03-31 10:00'],
      ['2026-05-02 09:03', 'period 3 FAIL, period 4 SUCCESS, order COMPLETED', 'COMPLETED'],
    ]);
  });

  it.each([
    [4, 'period 2 FAIL, period 3 SUCCESS, period 4 SUCCESS, order COMPLETED'],
    [2, 'period 2 FAIL, order COMPLETED'],
  ])('mode A, %i periods: a retry that nobody made in time is not made later', async (totalCycles, told) => {
    const diary = await book.open('2026-01-31 10:00', await book.product({ totalCycles }), 'MOCKPAY');
    await diary.on('2026-02-28 10:00', () =>
      diary.call('sandbox/orders/advance', { cycles: 1, outcomes: ['FAIL_RETRY'] }),
    );
    book.institution.reset();
    await diary.on('2026-05-02 09:00', async () => {
      while ((await book.renew()) > 0);
    });
    // Compares no times: a period that ends without a debit has the database's own time.
    expect(diary.entries.slice(1).map(([, ...what]) => what)).toEqual([
      ['period 2 FAIL_RETRY', 'ACTIVE, next 2026-03-01 10:00'],
      [told, 'COMPLETED'],
    ]);
    expect(book.institution.debits.map(({ cycleNo }) => cycleNo)).toEqual(totalCycles === 4 ? [3, 4] : []);
  });

  it('mode B: it bills one period after another', async () => {
    const diary = await book.openCollected('2026-01-31 10:00', await book.product({ totalCycles: 4 }));
    await diary.on('2026-05-02 09:00', async () => {
      while ((await book.renew()) > 0);
    });
    expect(diary.entries.map(([, ...what]) => what)).toEqual([
      ['period 1 BILLED, order ACTIVE', 'ACTIVE, next 2026-02-28 10:00'],
      ['period 2 BILLED, period 3 BILLED, period 4 BILLED, order COMPLETED', 'COMPLETED'],
    ]);
    expect((await diary.periods()).map((line) => line.replace(/, paid.*/, ''))).toEqual([
      '1 due 2026-01-31 10:00: BILLED',
      '2 due 2026-02-28 10:00: BILLED',
      '3 due 2026-03-31 10:00: BILLED',
      '4 due 2026-04-30 10:00: BILLED',
    ]);
  });
});

describe('the engine skips an ended order', () => {
  it.each([
    ['A', 'MOCKPAY'],
    ['B', ''],
  ])('mode %s, though every later day is in the past', async (mode, paymentChannelCode) => {
    const four = await book.product({ totalCycles: 4 });
    const diary = await (mode === 'A'
      ? book.open('2026-01-31 10:00', four, paymentChannelCode)
      : book.openCollected('2026-01-31 10:00', four));
    await diary.on('2026-02-20 09:00', () => diary.call('orders/unsubscribe'));
    await diary.on('2026-05-02 09:00', () => book.renew());
    expect(diary.entries.slice(1)).toEqual([
      ['2026-02-20 09:00', 'order UNSUBSCRIBED, period 2-4 CANCELED', 'UNSUBSCRIBED'],
      ['2026-05-02 09:00', 'nothing', 'UNSUBSCRIBED'],
    ]);
  });

  it('mode A, between two attempts', async () => {
    const diary = await book.open('2026-01-31 10:00', await book.product({ totalCycles: 4 }), 'MOCKPAY');
    await diary.on('2026-02-28 10:00', () =>
      diary.call('sandbox/orders/advance', { cycles: 1, outcomes: ['FAIL_RETRY'] }),
    );
    await diary.on('2026-02-28 18:00', () => diary.call('orders/unsubscribe'));
    await diary.on('2026-05-02 09:00', () => book.renew());
    expect(diary.entries.slice(1)).toEqual([
      ['2026-02-28 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2026-03-01 10:00'],
      ['2026-02-28 18:00', 'order UNSUBSCRIBED, period 2 CANCELED, period 3-4 CANCELED', 'UNSUBSCRIBED'],
      ['2026-05-02 09:00', 'nothing', 'UNSUBSCRIBED'],
    ]);
  });
});
