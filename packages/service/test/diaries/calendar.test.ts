import { describe, expect, it } from 'vitest';
import { book, useBook } from './diary.js';

useBook();

describe('31 January, monthly, through a leap year', () => {
  it('mode A: the last day of a shorter month, and the 31st again afterwards', async () => {
    const diary = await book.open('2028-01-31 10:00', await book.product({ totalCycles: 14 }));
    await diary.goOn(13);
    expect(diary.entries).toEqual([
      ['2028-01-31 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2028-02-29 10:00'],
      ['2028-02-29 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2028-03-31 10:00'],
      ['2028-03-31 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2028-04-30 10:00'],
      ['2028-04-30 10:00', 'period 4 SUCCESS', 'ACTIVE, next 2028-05-31 10:00'],
      ['2028-05-31 10:00', 'period 5 SUCCESS', 'ACTIVE, next 2028-06-30 10:00'],
      ['2028-06-30 10:00', 'period 6 SUCCESS', 'ACTIVE, next 2028-07-31 10:00'],
      ['2028-07-31 10:00', 'period 7 SUCCESS', 'ACTIVE, next 2028-08-31 10:00'],
      ['2028-08-31 10:00', 'period 8 SUCCESS', 'ACTIVE, next 2028-09-30 10:00'],
      ['2028-09-30 10:00', 'period 9 SUCCESS', 'ACTIVE, next 2028-10-31 10:00'],
      ['2028-10-31 10:00', 'period 10 SUCCESS', 'ACTIVE, next 2028-11-30 10:00'],
      ['2028-11-30 10:00', 'period 11 SUCCESS', 'ACTIVE, next 2028-12-31 10:00'],
      ['2028-12-31 10:00', 'period 12 SUCCESS', 'ACTIVE, next 2029-01-31 10:00'],
      ['2029-01-31 10:00', 'period 13 SUCCESS', 'ACTIVE, next 2029-02-28 10:00'],
      ['2029-02-28 10:00', 'period 14 SUCCESS, order COMPLETED', 'COMPLETED'],
    ]);
    expect((await diary.periods()).slice(0, 3)).toEqual([
      '1 due 2028-01-31 10:00: SUCCESS, paid 2028-01-31 10:00',
      '2 due 2028-02-29 10:00: SUCCESS, paid 2028-02-29 10:00',
      '3 due 2028-03-31 10:00: SUCCESS, paid 2028-03-31 10:00',
    ]);
  });

  it('mode B: the same days, billed', async () => {
    const diary = await book.openCollected('2028-01-31 10:00', 'TEST_SPU_001');
    await diary.goOn(11);
    expect(diary.entries).toEqual([
      ['2028-01-31 10:00', 'period 1 BILLED, order ACTIVE', 'ACTIVE, next 2028-02-29 10:00'],
      ['2028-02-29 10:00', 'period 2 BILLED', 'ACTIVE, next 2028-03-31 10:00'],
      ['2028-03-31 10:00', 'period 3 BILLED', 'ACTIVE, next 2028-04-30 10:00'],
      ['2028-04-30 10:00', 'period 4 BILLED', 'ACTIVE, next 2028-05-31 10:00'],
      ['2028-05-31 10:00', 'period 5 BILLED', 'ACTIVE, next 2028-06-30 10:00'],
      ['2028-06-30 10:00', 'period 6 BILLED', 'ACTIVE, next 2028-07-31 10:00'],
      ['2028-07-31 10:00', 'period 7 BILLED', 'ACTIVE, next 2028-08-31 10:00'],
      ['2028-08-31 10:00', 'period 8 BILLED', 'ACTIVE, next 2028-09-30 10:00'],
      ['2028-09-30 10:00', 'period 9 BILLED', 'ACTIVE, next 2028-10-31 10:00'],
      ['2028-10-31 10:00', 'period 10 BILLED', 'ACTIVE, next 2028-11-30 10:00'],
      ['2028-11-30 10:00', 'period 11 BILLED', 'ACTIVE, next 2028-12-31 10:00'],
      ['2028-12-31 10:00', 'period 12 BILLED, order COMPLETED', 'COMPLETED'],
    ]);
    expect((await diary.call('orders/query')).data).toMatchObject({ totalPaidAmountCent: 12 * 1990 });
    expect((await diary.periods()).at(-1)).toBe('12 due 2028-12-31 10:00: BILLED, paid 2028-12-31 10:00');
  });
});

describe('29 February, every twelve months', () => {
  it('is 28 February until the next leap year', async () => {
    const diary = await book.open('2028-02-29 23:59', await book.product({ period: 12, totalCycles: 5 }));
    await diary.goOn(4);
    expect(diary.entries.map(([when]) => when)).toEqual([
      '2028-02-29 23:59',
      '2029-02-28 23:59',
      '2030-02-28 23:59',
      '2031-02-28 23:59',
      '2032-02-29 23:59',
    ]);
  });
});

describe('days', () => {
  it('mode A, every second day over the end of February', async () => {
    const daily = await book.product({ periodType: 'DAY', period: 2, totalCycles: 3 });
    const diary = await book.open('2028-02-27 00:00', daily);
    await diary.goOn(2);
    expect(diary.entries).toEqual([
      ['2028-02-27 00:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2028-02-29 00:00'],
      ['2028-02-29 00:00', 'period 2 SUCCESS', 'ACTIVE, next 2028-03-02 00:00'],
      ['2028-03-02 00:00', 'period 3 SUCCESS, order COMPLETED', 'COMPLETED'],
    ]);
  });
});

describe('an order of one period', () => {
  it.each([
    ['A', 'SUCCESS'],
    ['B', 'BILLED'],
  ])('mode %s: answered ACTIVE with nothing to pay, and completed in a step of its own', async (mode, status) => {
    const once = await book.product({ totalCycles: 1 });
    const diary = await (mode === 'A' ? book.open : book.openCollected)('2028-01-31 10:00', once);
    await diary.goOn();
    expect(diary.entries).toEqual([
      ['2028-01-31 10:00', `period 1 ${status}, order ACTIVE`, 'ACTIVE'],
      ['2028-01-31 10:00', 'order COMPLETED', 'COMPLETED'],
    ]);
    expect(await diary.periods()).toEqual([`1 due 2028-01-31 10:00: ${status}, paid 2028-01-31 10:00`]);
    expect((await diary.call('sandbox/orders/advance', { cycles: 1 })).code).toBe('420004');
  });
});
