import { describe, expect, it } from 'vitest';
import { book, secondPeriod, useBook } from './diary.js';

useBook();

const unsubscribed = 'order UNSUBSCRIBED';

describe('unsubscribe, in every state', () => {
  it('while the next period waits: it and all after it are CANCELED', async () => {
    const diary = await secondPeriod('pays');
    await diary.on('2027-02-20 09:00', () => diary.call('orders/unsubscribe'));
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
      ['2027-02-15 10:00', 'period 2 SUCCESS', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-20 09:00', `${unsubscribed}, period 3-12 CANCELED`, 'UNSUBSCRIBED'],
    ]);
    expect((await diary.periods()).slice(1, 3)).toEqual([
      '2 due 2027-02-15 10:00: SUCCESS, paid 2027-02-15 10:00',
      '3 due 2027-03-15 10:00: CANCELED',
    ]);
  });

  it('while a debit is in flight that then succeeds: it is kept, and operators are alerted', async () => {
    const diary = await secondPeriod('silent');
    await diary.on('2027-02-15 11:00', () => diary.call('orders/unsubscribe'));
    await diary.on('2027-02-15 12:00', () => diary.result(2, 1, 'pays'));
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'nothing', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-15 11:00', `${unsubscribed}, period 3-12 CANCELED`, 'UNSUBSCRIBED'],
      ['2027-02-15 12:00', 'period 2 SUCCESS', 'UNSUBSCRIBED'],
    ]);
    expect((await diary.periods()).slice(1, 3)).toEqual([
      '2 due 2027-02-15 10:00: SUCCESS, paid 2027-02-15 12:00',
      '3 due 2027-03-15 10:00: CANCELED',
    ]);
    expect(await diary.alerts()).toEqual(['debit-after-unsubscribe']);
    expect((await diary.call('orders/query')).data).toMatchObject({ totalPaidAmountCent: 2 * 1990 });
  });

  it.each(['short', 'blocked', 'gone'] as const)(
    'while a debit is in flight that then fails (%s): FAIL, never retried',
    async (card) => {
      const diary = await secondPeriod('silent');
      await diary.on('2027-02-15 11:00', () => diary.call('orders/unsubscribe'));
      await diary.on('2027-02-15 12:00', () => diary.result(2, 1, card));
      expect(diary.entries.slice(2)).toEqual([
        ['2027-02-15 11:00', `${unsubscribed}, period 3-12 CANCELED`, 'UNSUBSCRIBED'],
        ['2027-02-15 12:00', 'period 2 FAIL', 'UNSUBSCRIBED'],
      ]);
      expect((await diary.call('sandbox/orders/advance', { to: '2029-01-01 00:00:00' })).code).toBe('420003');
      expect(await diary.alerts()).toEqual([]);
    },
  );

  it('between two attempts: the open period is CANCELED with the rest', async () => {
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    book.card = 'short';
    await diary.goOn(2);
    await diary.on('2027-02-17 09:00', () => diary.call('orders/unsubscribe'));
    expect(diary.entries.slice(2)).toEqual([
      ['2027-02-16 10:00', 'period 2 FAIL_RETRY', 'ACTIVE, next 2027-02-19 10:00'],
      ['2027-02-17 09:00', `${unsubscribed}, period 2 CANCELED, period 3-12 CANCELED`, 'UNSUBSCRIBED'],
    ]);
    expect((await diary.periods())[1]).toBe('2 due 2027-02-15 10:00: CANCELED');
  });

  it('between two attempts of the last period: only it is CANCELED', async () => {
    const diary = await book.open('2027-01-15 10:00', await book.product({ totalCycles: 2 }));
    book.card = 'short';
    await diary.goOn();
    await diary.on('2027-02-15 20:00', () => diary.call('orders/unsubscribe'));
    expect(diary.entries.at(-1)).toEqual(['2027-02-15 20:00', `${unsubscribed}, period 2 CANCELED`, 'UNSUBSCRIBED']);
  });

  it('mode B: billed periods stay, no others are billed', async () => {
    const diary = await book.openCollected('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.goOn();
    await diary.on('2027-02-20 09:00', () => diary.call('orders/unsubscribe'));
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 BILLED', 'ACTIVE, next 2027-03-15 10:00'],
      ['2027-02-20 09:00', `${unsubscribed}, period 3-12 CANCELED`, 'UNSUBSCRIBED'],
    ]);
    expect((await diary.call('sandbox/orders/advance', { cycles: 1 })).code).toBe('420003');
  });

  it('twice: the second changes nothing and sends no event', async () => {
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-02-01 09:00', () => diary.call('orders/unsubscribe'));
    await diary.on('2027-02-02 09:00', async () =>
      expect((await diary.call('orders/unsubscribe')).data.unsubscribeTime).toBe('2027-02-01 09:00:00'),
    );
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-01 09:00', `${unsubscribed}, period 2-12 CANCELED`, 'UNSUBSCRIBED'],
      ['2027-02-02 09:00', 'nothing', 'UNSUBSCRIBED'],
    ]);
  });

  it('while the first debit has no result: refused, and the order becomes ACTIVE', async () => {
    book.card = 'silent';
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-15 10:01', async () =>
      expect((await diary.call('orders/unsubscribe')).code).toBe('420008'),
    );
    await diary.on('2027-01-15 10:02', () => diary.result(1, 1, 'pays'));
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'nothing', 'INITIALIZING'],
      ['2027-01-15 10:01', 'nothing', 'INITIALIZING'],
      ['2027-01-15 10:02', 'period 1 SUCCESS, order ACTIVE', 'ACTIVE, next 2027-02-15 10:00'],
    ]);
  });

  it('after the first debit has failed: accepted, and nothing changes', async () => {
    book.card = 'blocked';
    const diary = await book.open('2027-01-15 10:00', 'TEST_SPU_001');
    await diary.on('2027-01-16 10:00', async () => expect((await diary.call('orders/unsubscribe')).code).toBe('0'));
    expect(diary.entries).toEqual([
      ['2027-01-15 10:00', 'period 1 FAIL, order TERMINATED', 'TERMINATED'],
      ['2027-01-16 10:00', 'nothing', 'TERMINATED'],
    ]);
  });

  it('after the last period: refused', async () => {
    const diary = await book.open('2027-01-15 10:00', await book.product({ totalCycles: 2 }));
    await diary.goOn();
    await diary.on('2027-02-16 10:00', async () =>
      expect((await diary.call('orders/unsubscribe')).code).toBe('420004'),
    );
    expect(diary.entries.slice(1)).toEqual([
      ['2027-02-15 10:00', 'period 2 SUCCESS, order COMPLETED', 'COMPLETED'],
      ['2027-02-16 10:00', 'nothing', 'COMPLETED'],
    ]);
  });
});
