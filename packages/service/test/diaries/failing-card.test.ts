import { describe, expect, it } from 'vitest';
import { book, useBook } from './diary.js';

useBook();

const DAY = 86_400;
const HOUR = 3600;

describe('a card without money', () => {
  it('that recovers at the third attempt', async () => {
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    book.card = 'short';
    await diary.goOn(2);
    book.card = 'pays';
    await diary.goOn(2);
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-16 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-19 10:00'],
      ['2027-02-19 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect((await diary.periods()).slice(0, 4)).toEqual([
      '1 due 2027-01-15 10:00: SUCCESS, paid 2027-01-15 10:00',
      '2 due 2027-02-15 10:00: SUCCESS, paid 2027-02-19 10:00',
      '3 due 2027-03-15 10:00: SUCCESS, paid 2027-03-15 10:00',
      '4 due 2027-04-15 10:00: WAIT',
    ]);
    expect((await diary.call('orders/query')).data).toMatchObject({ totalPaidAmountCent: 3 * 1990 });
  });

  it('that never recovers: all retries, then FAIL, and the next period on its day', async () => {
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    book.card = 'short';
    await diary.goOn(5);
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-16 10:00'],
      ['2027-02-16 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-19 10:00'],
      ['2027-02-19 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-24 10:00'],
      ['2027-02-24 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-03-03 10:00'],
      ['2027-03-03 10:00', 'period 2 FAIL', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
    ]);
    expect((await diary.periods()).slice(1, 3)).toEqual([
      '2 due 2027-02-15 10:00: FAIL',
      '3 due 2027-03-15 10:00: SUCCESS, paid 2027-03-15 10:00',
    ]);
  });

  it('in the last period: FAIL after all retries, and COMPLETED with it', async () => {
    const diary = await book.open('2027-01-15 10:00', await book.product({ totalCycles: 2, retryDelays: [6 * DAY] }));
    book.card = 'short';
    await diary.goOn(2);
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-21 10:00'],
      ['2027-02-21 10:00', 'period 2 FAIL, order COMPLETED', 'COMPLETED'],
    ]);
    expect((await diary.call('orders/query')).data).toMatchObject({ totalPaidAmountCent: 1000 });
  });
});

describe('a blocked card', () => {
  it('fails its period at once, and the order continues to its end', async () => {
    const diary = await book.open('2027-01-15 10:00', await book.product({ totalCycles: 4 }));
    book.card = 'blocked';
    await diary.goOn();
    book.card = 'pays';
    await diary.goOn();
    book.card = 'blocked';
    await diary.goOn();
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 FAIL', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-03-15 10:00', 'period 3 SUCCESS', 'ACTIVE, next 2027-04-15 10:00'],
      ['2027-04-15 10:00', 'period 4 FAIL, order COMPLETED', 'COMPLETED'],
    ]);
  });
});

describe('a retry is never later than the next period', () => {
  it.each([
    ['longer than a day', 25 * HOUR],
    ['exactly a day', DAY],
  ])('a delay %s: FAIL at the first attempt', async (_name, delay) => {
    const daily = await book.product({ periodType: 'DAY', totalCycles: 3, retryDelays: [delay] });
    const diary = await book.open('2027-01-15 10:00', daily);
    book.card = 'short';
    await diary.goOn(2);
    expect(diary.entries.slice(1)).toEqual([
      ['2027-01-16 10:00', 'period 2 FAIL', 'ACTIVE, next 2027-01-17 10:00'],
      ['2027-01-17 10:00', 'period 3 FAIL, order COMPLETED', 'COMPLETED'],
    ]);
  });

  it('delays of more than a day in total: the second retry is dropped', async () => {
    const daily = await book.product({ periodType: 'DAY', totalCycles: 3, retryDelays: [20 * HOUR, 20 * HOUR] });
    const diary = await book.open('2027-01-15 10:00', daily);
    book.card = 'short';
    await diary.goOn(2);
    book.card = 'pays';
    await diary.goOn();
    expect(diary.entries.slice(1)).toEqual([
      ['2027-01-16 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-01-17 06:00'],
      ['2027-01-17 06:00', 'period 2 FAIL', 'ACTIVE, next 2027-01-17 10:00'],
      ['2027-01-17 10:00', 'period 3 SUCCESS, order COMPLETED', 'COMPLETED'],
    ]);
  });
});
